using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>The audit log as gRPC carries it.</summary>
internal static class AuditMapping
{
    public static ListAuditEventsRequest ToProto(AuditEventQuery query)
    {
        var request = new ListAuditEventsRequest
        {
            PageSize = (uint)query.PageSize,
            PageToken = query.PageToken ?? "",
            Event = query.Event ?? "",
            Actor = query.Actor ?? "",
            Subject = query.Subject ?? "",
            Since = query.Since?.ToTimestamp(),
            Until = query.Until?.ToTimestamp(),
        };
        if (query.After is { } after)
            request.After = (ulong)after;
        return request;
    }

    public static AuditEventPage ToPage(ListAuditEventsResponse response) =>
        new(
            response.Node,
            [
                .. response.Events.Select(e => new AuditEventInfo(
                    (long)e.Seq,
                    e.Time?.ToDateTimeOffset() ?? default,
                    e.Event,
                    e.Actor,
                    e.Plane,
                    e.Peer,
                    e.Subject,
                    e.Detail,
                    e.Hash
                )),
            ],
            [
                .. response.Damages.Select(d => new AuditDamageInfo(
                    (AuditFault)d.Fault,
                    d.File,
                    (long)d.Offset,
                    (long)d.Bytes,
                    d.Detail
                )),
            ],
            response.NextPageToken.Length == 0 ? null : response.NextPageToken
        );
}
