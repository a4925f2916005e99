namespace LightQ.Client.Administration;

/// <summary>The first part of a backup.</summary>
/// <param name="BrokerId">The broker's id: 32 hexadecimal digits.</param>
/// <param name="Version">The broker's version.</param>
/// <param name="Time">The moment that the backup represents.</param>
/// <param name="EstimatedBytes">About how many bytes will follow.</param>
public sealed record BackupBegin(string BrokerId, string Version, DateTimeOffset Time, long EstimatedBytes)
    : BackupPart;
