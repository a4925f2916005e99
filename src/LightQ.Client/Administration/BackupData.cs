namespace LightQ.Client.Administration;

/// <summary>The next bytes of the file that was begun.</summary>
/// <param name="Bytes">The bytes, 64 KiB or so; they may be kept.</param>
public sealed record BackupData(ReadOnlyMemory<byte> Bytes) : BackupPart;
