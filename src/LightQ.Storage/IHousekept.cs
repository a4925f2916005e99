namespace LightQ.Storage;

/// <summary>What housekeeping looks after.</summary>
internal interface IHousekept
{
    /// <summary>Does what is due. Must not throw.</summary>
    void Tend(DateTimeOffset now);
}
