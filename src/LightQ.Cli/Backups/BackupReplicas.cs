namespace LightQ.Cli.Backups;

/// <summary>A topic of a backup that had replicas in its cluster.</summary>
internal sealed record BackupReplicas(string Topic, int Replicas);
