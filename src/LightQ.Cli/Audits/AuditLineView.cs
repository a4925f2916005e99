using LightQ.Client.Administration;
using LightQ.Server.Audit;

namespace LightQ.Cli.Audits;

/// <summary>A line of <c>lightq audit show</c> and <c>lightq audit list</c> with <c>--output json</c>.</summary>
internal sealed record AuditLineView(
    long Seq,
    DateTimeOffset Time,
    string Event,
    string Actor,
    string Plane,
    string Peer,
    string Subject,
    string Detail
)
{
    public static AuditLineView Of(AuditLine line) =>
        new(line.Sequence, line.Time, line.Event, line.Actor, line.Plane, line.Peer, line.Subject, line.Detail);

    public static AuditLineView Of(AuditEventInfo info) =>
        new(info.Sequence, info.Time, info.Event, info.Actor, info.Plane, info.Peer, info.Subject, info.Detail);
}
