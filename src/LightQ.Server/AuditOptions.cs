namespace LightQ.Server;

/// <summary>Settings of the audit log.</summary>
public sealed record AuditOptions
{
    /// <summary>
    /// Whether the audit log is written. Default true; a server with a temporary data directory never writes one.
    /// </summary>
    public bool IsEnabled { get; init; } = true;

    /// <summary>Size at which a file is closed and the next begun, in bytes, 64 KiB to 1 GiB. Default 16 MiB.</summary>
    public int FileBytes
    {
        get;
        init =>
            field = value is >= 64 * 1024 and <= 1024 * 1024 * 1024
                ? value
                : throw new ArgumentOutOfRangeException(nameof(FileBytes), value, "65536 to 1073741824");
    } = 16 * 1024 * 1024;

    /// <summary>
    /// Most files, 2 to 100,000. Default 64: beyond that the oldest file is deleted, which is logged.
    /// </summary>
    public int MaxFiles
    {
        get;
        init =>
            field = value is >= 2 and <= 100_000
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxFiles), value, "2 to 100000");
    } = 64;
}
