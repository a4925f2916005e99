using System.Diagnostics;
using System.Text;
using LightQ.Protocol;
using LightQ.Protocol.Records;

namespace LightQ.Client.Telemetry;

/// <summary>
/// A W3C trace context in a message's headers: <c>traceparent</c> and <c>tracestate</c>, by their well-known ids or by
/// name.
/// </summary>
internal static class TraceContext
{
    /// <summary>Most links of one span: OpenTelemetry's default limit.</summary>
    public const int MaxLinks = 128;

    // What every receiver has to pass on, by the specification.
    private const int MaxStateLength = 512;

    /// <summary>Reads the context that a message carries.</summary>
    public static bool TryRead(HeaderEnumerator headers, out ActivityContext context)
    {
        string? parent = null,
            state = null;
        try
        {
            foreach (HeaderView header in headers)
            {
                if (Is(header, WellKnownHeader.TraceParent, "traceparent"u8))
                    parent ??= Encoding.ASCII.GetString(header.Value);
                else if (Is(header, WellKnownHeader.TraceState, "tracestate"u8))
                    state ??= Encoding.ASCII.GetString(header.Value);
            }
        }
        catch (ProtocolException)
        {
            // Damaged headers carry no context. Whoever reads the message itself hears of them.
        }
        return ActivityContext.TryParse(parent, state, isRemote: true, out context);
    }

    /// <summary>The headers with a context behind them.</summary>
    /// <param name="headers">The message's own; they stay as they are.</param>
    /// <param name="source">The activity whose context is added; null, or one without a W3C id, for none.</param>
    /// <returns>The headers themselves when there is nothing to add, or no room.</returns>
    public static MessageHeaders? AddTo(MessageHeaders? headers, Activity? source)
    {
        if (source is not { IdFormat: ActivityIdFormat.W3C, Id: { } parent })
            return headers;
        string state =
            source.TraceStateString is { Length: <= MaxStateLength } given && Ascii.IsValid(given) ? given : "";
        ReadOnlySpan<byte> own = headers is null ? default : headers.Encoded;
        int length =
            own.Length
            + RecordWriter.SizeOfWellKnownHeader(parent.Length)
            + (state.Length == 0 ? 0 : RecordWriter.SizeOfWellKnownHeader(state.Length));
        if (length > RecordLayout.MaxHeadersLength)
            return headers;
        byte[] encoded = new byte[length];
        own.CopyTo(encoded);
        int at = own.Length;
        at += RecordWriter.WriteWellKnownHeader(
            encoded.AsSpan(at),
            WellKnownHeader.TraceParent,
            Encoding.ASCII.GetBytes(parent)
        );
        if (state.Length != 0)
        {
            RecordWriter.WriteWellKnownHeader(
                encoded.AsSpan(at),
                WellKnownHeader.TraceState,
                Encoding.ASCII.GetBytes(state)
            );
        }

        return new MessageHeaders(encoded, (headers?.Count ?? 0) + (state.Length == 0 ? 1 : 2));
    }

    private static bool Is(in HeaderView header, byte id, ReadOnlySpan<byte> name) =>
        header.WellKnownId == id || header.Name.SequenceEqual(name);
}
