namespace LightQ.Client.Administration;

/// <summary>A place of a broker's audit log that is not as it was written.</summary>
/// <param name="Fault">What is wrong.</param>
/// <param name="File">The file's name in the directory <c>audit</c>.</param>
/// <param name="Offset">The byte of the file where it begins.</param>
/// <param name="Bytes">How long it is; 0 for a place between lines.</param>
/// <param name="Detail">What was found, for people.</param>
public sealed record AuditDamageInfo(AuditFault Fault, string File, long Offset, long Bytes, string Detail);
