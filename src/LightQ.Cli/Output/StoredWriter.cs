using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Unicode;
using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Output;

/// <summary>
/// Writes stored messages and dead letters: a line of facts and the body, or JSON. In JSON a body that is not UTF-8 is
/// <c>body_base64</c> instead of <c>body</c>; keys and headers likewise.
/// </summary>
/// <param name="format">How.</param>
internal sealed class StoredWriter(BodyFormat format)
{
    private static readonly JsonWriterOptions Options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    /// <summary>How many were written.</summary>
    public long Written { get; private set; }

    /// <summary>Writes a message.</summary>
    /// <param name="message">The message.</param>
    /// <param name="page">The messages that are shown with it.</param>
    public void Write(StoredMessage message, IReadOnlyList<StoredMessage> page)
    {
        Written++;
        if (format == BodyFormat.Json)
        {
            CommandConsole.Line(ToJson(json => Describe(json, message)));
            return;
        }
        List<string> facts = [$"{message.Partition}/{message.Offset}", Time(message.AppendTime)];
        if (DeliveryText.Of(message, page, DateTimeOffset.UtcNow) is { } delivery)
            facts.Add(delivery);
        if (message.MessageId is { } id)
            facts.Add($"id {SafeText.Of(id)}");
        Write(facts, message.Key, message.Headers, message.Body, message.BodySize, message.IsTombstone);
    }

    /// <summary>Writes a dead letter.</summary>
    public void Write(DeadLetterInfo letter)
    {
        Written++;
        if (format == BodyFormat.Json)
        {
            CommandConsole.Line(ToJson(json => Describe(json, letter)));
            return;
        }
        List<string> facts =
        [
            $"letter {letter.Offset}",
            letter.Time is { } time ? Time(time) : "-",
            $"from {letter.Partition}/{letter.OriginalOffset}",
            $"{letter.Deliveries} {(letter.Deliveries == 1 ? "delivery" : "deliveries")}",
        ];
        if (letter.IsSettled)
            facts.Add("settled");
        if (!letter.HasOriginal)
            facts.Add("original gone");
        if (letter.Content != LetterContent.Whole)
            facts.Add(letter.Content == LetterContent.Omitted ? "without its message" : "a batch that cannot be read");
        facts.Add($"reason: {SafeText.Of(letter.Reason)}");
        Write(facts, letter.Key, letter.Headers, letter.Body, letter.BodySize, letter.IsTombstone);
    }

    /// <summary>Writes offsets that cannot be shown to standard error.</summary>
    public static void Write(MessageGap gap) =>
        new CommandConsole().Note(
            $"partition {gap.Partition}: the offsets {gap.FirstOffset} to {gap.LastOffset} cannot be shown "
                + $"({gap.Reason.ToString().ToLowerInvariant()})"
        );

    /// <summary>A time as it is shown.</summary>
    public static string Time(DateTimeOffset time) =>
        time.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);

    private void Write(
        List<string> facts,
        ReadOnlyMemory<byte>? key,
        IReadOnlyList<KeyValuePair<string, ReadOnlyMemory<byte>>> headers,
        ReadOnlyMemory<byte> body,
        long bodySize,
        bool isTombstone
    )
    {
        if (key is { } bytes)
            facts.Add($"key {SafeText.Of(bytes.Span)}");
        facts.Add(isTombstone ? "tombstone" : string.Create(CultureInfo.InvariantCulture, $"{bodySize:N0} bytes"));
        CommandConsole.Line(string.Join("  ", facts));
        foreach ((string name, ReadOnlyMemory<byte> value) in headers)
            CommandConsole.Line($"  {SafeText.Of(name)}: {SafeText.Of(value.Span)}");
        if (format == BodyFormat.Hex)
        {
            foreach (string line in SafeText.HexLines(body, 0))
                CommandConsole.Line(line);
        }
        else if (!body.IsEmpty)
        {
            CommandConsole.Line(SafeText.Of(WholeCharacters(body, bodySize).Span, mayHaveLines: true));
        }
        if (body.Length < bodySize)
        {
            CommandConsole.Line(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"... the first {body.Length:N0} of {bodySize:N0} bytes; --max-bytes shows more"
                )
            );
        }
    }

    /// <summary>A body that was cut within a character is text all the same.</summary>
    private static ReadOnlyMemory<byte> WholeCharacters(ReadOnlyMemory<byte> body, long bodySize)
    {
        const int LongestCharacter = 4;
        for (int cut = 0; body.Length < bodySize && cut < Math.Min(LongestCharacter, body.Length); cut++)
        {
            if (Utf8.IsValid(body.Span[..^cut]))
                return body[..^cut];
        }
        return body;
    }

    private static string ToJson(Action<Utf8JsonWriter> write)
    {
        using var bytes = new MemoryStream();
        using (var json = new Utf8JsonWriter(bytes, Options))
        {
            json.WriteStartObject();
            write(json);
            json.WriteEndObject();
        }
        return Encoding.UTF8.GetString(bytes.GetBuffer().AsSpan(0, (int)bytes.Length));
    }

    private static void Describe(Utf8JsonWriter json, StoredMessage message)
    {
        json.WriteNumber("partition"u8, message.Partition);
        json.WriteNumber("offset"u8, message.Offset);
        json.WriteString("time"u8, message.AppendTime.UtcDateTime);
        if (message.PublishTime is { } published)
            json.WriteString("publish_time"u8, published.UtcDateTime);
        json.WriteString("state"u8, message.State.ToString().ToLowerInvariant());
        if (message.DeliverAt is { } due)
            json.WriteString("deliver_at"u8, due.UtcDateTime);
        if (message.ExpiresAt is { } end)
            json.WriteString("expires_at"u8, end.UtcDateTime);
        if (message.DelayedOffset is { } delayed)
            json.WriteNumber("delayed_offset"u8, delayed);
        if (message.MessageId is { } id)
            json.WriteString("message_id"u8, id);
        json.WriteNumber("size"u8, message.Size);
        Describe(json, message.Key, message.Headers, message.Body, message.BodySize, message.IsTombstone);
    }

    private static void Describe(Utf8JsonWriter json, DeadLetterInfo letter)
    {
        json.WriteNumber("offset"u8, letter.Offset);
        json.WriteNumber("partition"u8, letter.Partition);
        json.WriteNumber("original_offset"u8, letter.OriginalOffset);
        json.WriteString("reason"u8, letter.Reason);
        json.WriteNumber("deliveries"u8, letter.Deliveries);
        if (letter.Time is { } time)
            json.WriteString("time"u8, time.UtcDateTime);
        json.WriteBoolean("settled"u8, letter.IsSettled);
        json.WriteBoolean("original_held"u8, letter.HasOriginal);
        json.WriteString("content"u8, letter.Content.ToString().ToLowerInvariant());
        Describe(json, letter.Key, letter.Headers, letter.Body, letter.BodySize, letter.IsTombstone);
    }

    private static void Describe(
        Utf8JsonWriter json,
        ReadOnlyMemory<byte>? key,
        IReadOnlyList<KeyValuePair<string, ReadOnlyMemory<byte>>> headers,
        ReadOnlyMemory<byte> body,
        long bodySize,
        bool isTombstone
    )
    {
        if (key is { } bytes)
            WriteBytes(json, "key", bytes.Span);
        if (headers.Count != 0)
        {
            json.WriteStartObject("headers"u8);
            foreach ((string name, ReadOnlyMemory<byte> value) in headers)
                WriteBytes(json, name, value.Span);
            json.WriteEndObject();
        }
        json.WriteNumber("body_size"u8, bodySize);
        if (isTombstone)
            json.WriteNull("body"u8);
        else
            WriteBytes(json, "body", body.Span);
    }

    private static void WriteBytes(Utf8JsonWriter json, string name, ReadOnlySpan<byte> value)
    {
        if (Utf8.IsValid(value))
            json.WriteString(name, value);
        else
            json.WriteBase64String($"{name}_base64", value);
    }
}
