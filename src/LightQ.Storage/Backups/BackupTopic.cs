namespace LightQ.Storage.Backups;

/// <summary>A topic of a backup.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Id">Its id: 32 hexadecimal digits.</param>
/// <param name="Partitions">How many partitions it has.</param>
/// <param name="Durable">Whether its messages are in the backup; false for a transient one.</param>
/// <param name="Replicas">How many replicas it had in its cluster; 1 for none. A restored topic has none.</param>
public sealed record BackupTopic(string Name, string Id, int Partitions, bool Durable, int Replicas = 1);
