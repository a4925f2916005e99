namespace LightQ.Replication.Nats;

/// <summary>What a run of <see cref="EngineBenchmark"/> came to.</summary>
/// <param name="Entries">How many entries were stored.</param>
/// <param name="Bytes">Their payload.</param>
/// <param name="Elapsed">The time from the first append to the last answer.</param>
/// <param name="Median">The time that half of the answers took at most.</param>
/// <param name="Late">The time that 99 of 100 answers took at most.</param>
public sealed record EngineRate(long Entries, long Bytes, TimeSpan Elapsed, TimeSpan Median, TimeSpan Late)
{
    /// <summary>Entries a second.</summary>
    public double EntriesPerSecond => Entries / Elapsed.TotalSeconds;

    /// <summary>Bytes a second.</summary>
    public double BytesPerSecond => Bytes / Elapsed.TotalSeconds;
}
