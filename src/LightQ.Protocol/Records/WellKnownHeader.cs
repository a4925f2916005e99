namespace LightQ.Protocol.Records;

/// <summary>Headers so common that one byte stands for their name.</summary>
/// <remarks>
/// <code>
/// id   name            value
///  0   (never sent)
///  1   traceparent     W3C Trace Context: ASCII, 55 characters in its version 00
///  2   tracestate      W3C Trace Context: ASCII, at most 512 characters
///  3   content-type    a media type in ASCII, for example application/json
///  4   timestamp       i64 little-endian, unix microseconds: when the record was made, if not with its batch
/// 5 to 127             reserved for this protocol
/// 128 to 255           free for applications
/// </code>
/// A number is never given another meaning. A reader hands an id that it does not know to the application as it is.
/// </remarks>
public static class WellKnownHeader
{
    /// <summary>W3C trace context: version, trace id, parent id and flags, in ASCII.</summary>
    public const byte TraceParent = 1;

    /// <summary>W3C trace context: the vendors' parts, in ASCII.</summary>
    public const byte TraceState = 2;

    /// <summary>The body's media type, in ASCII.</summary>
    public const byte ContentType = 3;

    /// <summary>When the record was made: an i64 of unix microseconds.</summary>
    public const byte Timestamp = 4;

    /// <summary>The first id that applications may use as they like.</summary>
    public const byte FirstOfApplication = 128;

    /// <summary>
    /// The name that <paramref name="id"/> stands for; null for an id that this library does not know.
    /// </summary>
    public static string? NameOf(byte id) =>
        id switch
        {
            TraceParent => "traceparent",
            TraceState => "tracestate",
            ContentType => "content-type",
            Timestamp => "timestamp",
            _ => null,
        };
}
