using LightQ.Scheduling;

namespace LightQ.Broker.Topics;

/// <summary>What the partitions of a broker share for their housekeeping.</summary>
/// <param name="Schedule">Knows the partitions that have something to do later, and only them.</param>
/// <param name="Grain">How exact its moments are.</param>
/// <param name="Options">How long things may take.</param>
/// <param name="KeepPositions">Writes where a partition's groups have got to.</param>
internal sealed record PartitionHousekeeping(
    HousekeepingSchedule Schedule,
    TimeSpan Grain,
    BrokerOptions Options,
    Action<Partition> KeepPositions
);
