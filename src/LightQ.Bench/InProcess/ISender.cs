namespace LightQ.Bench.InProcess;

/// <summary>A producer's end; a struct, so that the loop around it is compiled for it.</summary>
internal interface ISender
{
    /// <summary>Writes a message and makes it visible.</summary>
    /// <returns>False when there is no room now.</returns>
    bool TrySend(long sequence, long stamp);
}
