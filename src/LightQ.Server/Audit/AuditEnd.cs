namespace LightQ.Server.Audit;

/// <summary>How far a log is written.</summary>
/// <param name="File">The name of the file that is being written; it need not exist before its first line.</param>
/// <param name="Length">Bytes of it that are whole lines.</param>
internal sealed record AuditEnd(string File, long Length);
