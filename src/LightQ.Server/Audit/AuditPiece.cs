namespace LightQ.Server.Audit;

/// <summary>A line of a file, or what stands where one should.</summary>
/// <param name="First">The file, by the first line's number that its name promises.</param>
/// <param name="Begin">Its first byte in the file.</param>
/// <param name="Bytes">Its bytes, with the newline if there is one.</param>
/// <param name="Line">What it says; null when it is not as it was written.</param>
internal readonly record struct AuditPiece(long First, long Begin, ReadOnlyMemory<byte> Bytes, AuditLine? Line)
{
    private const byte NewLine = (byte)'\n';

    /// <summary>The file's name.</summary>
    public string File => AuditFiles.NameOf(First);

    /// <summary>The byte of the file behind it.</summary>
    public long End => Begin + Bytes.Length;

    /// <summary>Judges some bytes.</summary>
    public static AuditPiece Of(long first, long begin, ReadOnlyMemory<byte> bytes) =>
        new(
            first,
            begin,
            bytes,
            bytes.Span[^1] == NewLine && AuditLine.TryRead(bytes.Span[..^1], out AuditLine? line) ? line : null
        );
}
