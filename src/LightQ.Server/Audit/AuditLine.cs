using System.Buffers;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using LightQ.Server.Security;

namespace LightQ.Server.Audit;

/// <summary>One line of the audit log.</summary>
/// <remarks>
/// <code>
/// {"seq":7,"time":"2030-01-01T00:00:00.0000000Z","event":"right-granted","actor":"admin","plane":"control","peer":"127.0.0.1:41234",
///  "subject":"alice","detail":"publish on orders.*","prev":"64 hex digits","hash":"64 hex digits"}
/// </code>
/// <c>hash</c> is the SHA-256 of the line's bytes in front of <c>,"hash"</c>; <c>prev</c>, which is among them, is the
/// hash of the previous line. So each line protects itself and the one before it. The first line of a chain has 64
/// zeros for <c>prev</c>.
/// </remarks>
/// <param name="Sequence">The line's number, from 1, without gaps over all files.</param>
/// <param name="Time">When the event happened.</param>
/// <param name="Event">What happened, one of <see cref="Events"/>.</param>
/// <param name="Actor">The user who did it.</param>
/// <param name="Plane">The plane: data, control or web; empty for the broker itself.</param>
/// <param name="Peer">The address that the request came from.</param>
/// <param name="Subject">The user, topic or other object that the event concerns.</param>
/// <param name="Detail">Details for people.</param>
/// <param name="Previous">The hash of the previous line.</param>
/// <param name="Hash">The hash of this line.</param>
public sealed record AuditLine(
    long Sequence,
    DateTimeOffset Time,
    string Event,
    string Actor,
    string Plane,
    string Peer,
    string Subject,
    string Detail,
    string Previous,
    string Hash
)
{
    /// <summary>
    /// Longest line in bytes: every text is cut to <see cref="MostCharacters"/>, and a character takes six bytes at
    /// most.
    /// </summary>
    internal const int MaxBytes = 64 * 1024;

    /// <summary>Longest text of a field.</summary>
    internal const int MostCharacters = 1000;

    /// <summary>Highest number of a line: what every reader of JSON takes exactly (RFC 8259, section 6).</summary>
    internal const long MaxSequence = (1L << 53) - 1;

    private const int HashDigits = 2 * SHA256.HashSizeInBytes;
    private const string TimeFormat = "yyyy-MM-dd'T'HH:mm:ss.fffffff'Z'";

    private static readonly JsonWriterOptions Writing = new() { Encoder = JavaScriptEncoder.Default };

    /// <summary>The possible values of <see cref="Event"/>, such as <c>login-refused</c>.</summary>
    public static IReadOnlyList<string> Events { get; } =
    [.. Enum.GetValues<SecurityAction>().Select(NameOf), .. Enum.GetValues<AuditEvent>().Select(NameOf)];

    /// <summary>What the first line of a chain names as the one before.</summary>
    internal static string NoHash { get; } = new('0', HashDigits);

    /// <summary>An event's name: <c>LoginRefused</c> is <c>login-refused</c>.</summary>
    internal static string NameOf<T>(T happened)
        where T : struct, Enum => JsonNamingPolicy.KebabCaseLower.ConvertName(happened.ToString());

    /// <summary>Writes a line, its newline included, and gives it its hash.</summary>
    internal static AuditLine Write(IBufferWriter<byte> output, AuditLine line)
    {
        var head = new ArrayBufferWriter<byte>(512);
        using (var json = new Utf8JsonWriter(head, Writing))
        {
            json.WriteStartObject();
            json.WriteNumber("seq", line.Sequence);
            json.WriteString("time", line.Time.UtcDateTime.ToString(TimeFormat, CultureInfo.InvariantCulture));
            json.WriteString("event", line.Event);
            json.WriteString("actor", Cut(line.Actor));
            json.WriteString("plane", line.Plane);
            json.WriteString("peer", Cut(line.Peer));
            json.WriteString("subject", Cut(line.Subject));
            json.WriteString("detail", Cut(line.Detail));
            json.WriteString("prev", line.Previous);
            json.Flush(); // Without the closing brace: what stands here is what the hash is of.
        }
        string hash = HashOf(head.WrittenSpan);
        output.Write(head.WrittenSpan);
        output.Write(Encoding.ASCII.GetBytes($",\"hash\":\"{hash}\"}}\n"));
        return line with { Hash = hash };
    }

    /// <summary>Reads a line without its newline.</summary>
    /// <param name="bytes">The line.</param>
    /// <param name="line">What it says; null when it says nothing that this broker has written.</param>
    /// <returns>Whether it is as it was written.</returns>
    internal static bool TryRead(ReadOnlySpan<byte> bytes, out AuditLine? line)
    {
        line = null;
        int tail = Tail("").Length + HashDigits;
        if (bytes.Length <= tail || bytes.Length > MaxBytes)
            return false;
        string hash = HashOf(bytes[..^tail]);
        if (!bytes[^tail..].SequenceEqual(Tail(hash)))
            return false;
        try
        {
            using JsonDocument json = JsonDocument.Parse(bytes.ToArray());
            JsonElement root = json.RootElement;
            string Text(string name) => root.GetProperty(name).GetString() ?? throw new FormatException(name);
            var time = DateTimeOffset.ParseExact(
                Text("time"),
                TimeFormat,
                CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal
            );
            line = new AuditLine(
                root.GetProperty("seq").GetInt64(),
                time,
                Text("event"),
                Text("actor"),
                Text("plane"),
                Text("peer"),
                Text("subject"),
                Text("detail"),
                Text("prev"),
                hash
            );
            return line.Sequence is > 0 and <= MaxSequence;
        }
        catch (Exception e)
            when (e is JsonException or KeyNotFoundException or FormatException or InvalidOperationException)
        {
            return false; // Somebody has computed a hash over something else.
        }
    }

    private static byte[] Tail(string hash) => Encoding.ASCII.GetBytes($",\"hash\":\"{hash}\"}}");

    private static string HashOf(ReadOnlySpan<byte> bytes) => Convert.ToHexStringLower(SHA256.HashData(bytes));

    private static string Cut(string text) => text.Length <= MostCharacters ? text : text[..MostCharacters];
}
