namespace LightQ.Client.Administration;

/// <summary>A topic in a backup.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Id">Its id: 32 hexadecimal digits.</param>
/// <param name="Partitions">How many partitions it has.</param>
/// <param name="IsDurable">Whether its messages are in the backup; false for a transient topic.</param>
public sealed record BackupTopicInfo(string Name, string Id, int Partitions, bool IsDurable)
{
    /// <summary>How many replicas it has in its cluster; 1 for none. A restored topic has none.</summary>
    public int Replicas { get; init; } = 1;
}
