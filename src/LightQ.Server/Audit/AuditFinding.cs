namespace LightQ.Server.Audit;

/// <summary>The first thing that is wrong with an audit log.</summary>
/// <param name="Fault">The kind of fault.</param>
/// <param name="File">The file's name.</param>
/// <param name="LineInFile">The line in that file, from 1; 0 when the fault is not in a single line.</param>
/// <param name="Detail">Details for people.</param>
public sealed record AuditFinding(AuditFault Fault, string File, long LineInFile, string Detail);
