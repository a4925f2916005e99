namespace LightQ.Server.Audit;

/// <summary>A place of the log that is not as it was written.</summary>
/// <param name="Fault">The kind of fault.</param>
/// <param name="File">The file's name.</param>
/// <param name="Offset">The byte of the file where it begins.</param>
/// <param name="Bytes">How long it is; 0 for a place between lines.</param>
/// <param name="Detail">Details for people.</param>
internal sealed record AuditDamage(AuditFault Fault, string File, long Offset, long Bytes, string Detail);
