using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Server.Audit;

namespace LightQ.Server.Control;

/// <summary>Pages of the audit log as <c>lightq.control.v1.Operations</c> has them.</summary>
internal static class AuditEventPage
{
    private const int DefaultSize = 100,
        LargestSize = 1000;

    /// <summary>Reads a request.</summary>
    /// <exception cref="BrokerException">A field has a value that is not allowed.</exception>
    public static AuditQuery ToQuery(ListAuditEventsRequest request) =>
        new(
            request.PageSize == 0 ? DefaultSize : (int)Math.Min(request.PageSize, LargestSize),
            ReadEvent(request.Event),
            request.Actor,
            request.Subject,
            ReadTime(request.Since, "since"),
            ReadTime(request.Until, "until"),
            request.HasAfter ? ReadAfter(request.After) : null,
            ReadToken(request)
        );

    /// <summary>Writes a response.</summary>
    public static ListAuditEventsResponse ToProto(AuditPage page, string node) =>
        new()
        {
            Node = node,
            Events = { page.Lines.Select(ToProto) },
            Damages = { page.Damages.Select(ToProto) },
            NextPageToken = page.Next?.ToString() ?? "",
        };

    private static string ReadEvent(string text) =>
        AuditLine.Events.Any(e => e.StartsWith(text, StringComparison.Ordinal))
            ? text
            : throw Refuse(
                $"event is '{TopicName.Printable(text)}'; allowed: the beginning of one of "
                    + $"{string.Join(", ", AuditLine.Events)}"
            );

    private static DateTimeOffset? ReadTime(Timestamp? time, string name)
    {
        try
        {
            return time?.ToDateTimeOffset();
        }
        catch (InvalidOperationException)
        {
            throw Refuse($"{name} is {time!.Seconds} s and {time.Nanos} ns; allowed: a time of the years 1 to 9999");
        }
    }

    private static long ReadAfter(ulong after) =>
        after <= AuditLine.MaxSequence
            ? (long)after
            : throw Refuse($"after is {after}; allowed: 0 to {AuditLine.MaxSequence}");

    private static AuditPosition? ReadToken(ListAuditEventsRequest request)
    {
        if (request.PageToken.Length == 0)
            return null;
        return
            AuditPosition.TryParse(request.PageToken, out AuditPosition position)
            && position.IsOldestFirst == request.HasAfter
            ? position
            : throw Refuse(
                "page_token is not one that this broker gave out for this order; allowed: next_page_token of the page "
                    + "before, or empty"
            );
    }

    private static Protocol.Control.AuditEvent ToProto(AuditLine line) =>
        new()
        {
            Seq = (ulong)line.Sequence,
            Time = line.Time.ToTimestamp(),
            Event = line.Event,
            Actor = line.Actor,
            Plane = line.Plane,
            Peer = line.Peer,
            Subject = line.Subject,
            Detail = line.Detail,
            Hash = line.Hash,
        };

    private static Protocol.Control.AuditDamage ToProto(Audit.AuditDamage damage) =>
        new()
        {
            Fault = damage.Fault switch
            {
                Audit.AuditFault.Missing => Protocol.Control.AuditFault.Missing,
                Audit.AuditFault.Reordered => Protocol.Control.AuditFault.Reordered,
                _ => Protocol.Control.AuditFault.Altered,
            },
            File = damage.File,
            Offset = (ulong)damage.Offset,
            Bytes = (ulong)damage.Bytes,
            Detail = damage.Detail,
        };

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");
}
