namespace LightQ.Client.Administration;

/// <summary>The next bytes of the file that began last.</summary>
/// <param name="Bytes">The bytes, about 64 KiB; the caller may keep them.</param>
public sealed record BackupData(ReadOnlyMemory<byte> Bytes) : BackupPart;
