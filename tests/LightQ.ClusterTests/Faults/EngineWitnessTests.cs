using System.Text;
using LightQ.Broker.Replication;
using Xunit;

namespace LightQ.ClusterTests.Faults;

/// <summary>What the witness takes for confirmed and delivered, and what it finds missing.</summary>
public sealed class EngineWitnessTests
{
    private readonly EngineWitness _witness = new();

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(4096)]
    public void It_sees_what_is_confirmed_and_delivered_however_the_bytes_come(int piece)
    {
        EngineWitness.Connection connection = _witness.Connect();
        Read(connection, "PING\r\n" + Append("in.1", "one") + Append("in.2", "two"), piece, isFromBroker: true);
        Read(
            connection,
            "INFO {}\r\n"
                + Message("MSG in.1 9 {0}", """{"stream":"LQ_s","seq":1}""")
                + Message("MSG in.2 9 {0}", """{"stream":"LQ_s","seq":0,"error":{"code":400}}""")
                + Message("MSG lq.LQ_s.d 3 $JS.ACK.LQ_s.reader.1.2.5.7.0 {0}", "three")
                + Message("MSG lq.LQ_s.d 3 $JS.ACK.home.account.LQ_s.reader.1.3.5.7.0.x {0}", "four")
                + Message("HMSG in.3 9 49 {0}", "NATS/1.0\r\nNats-Stream: LQ_s\r\nNats-Sequence: 4\r\n\r\nfive"),
            piece,
            isFromBroker: false
        );
        (ulong, string)[] seen = [.. _witness.Of("LQ_s").Select(s => (s.Sequence, Encoding.UTF8.GetString(s.Payload)))];
        Assert.Equal([(1, "one"), (2, "three"), (3, "four"), (4, "five")], seen);
        Assert.Empty(_witness.Of("LQ_t"));
    }

    [Fact]
    public void It_finds_what_is_missing_or_another_and_nothing_else()
    {
        EngineWitness.Seen[] seen = [Seen(2, "two"), Seen(5, "five")];
        Assert.Null(EngineWitness.FindDropped(seen, [Entry(1, "one"), Entry(2, "two"), Entry(5, "five")]));
        Assert.Equal(5ul, EngineWitness.FindDropped(seen, [Entry(2, "two")]));
        Assert.Equal(2ul, EngineWitness.FindDropped(seen, [Entry(2, "other"), Entry(5, "five")]));
    }

    private static EngineWitness.Seen Seen(ulong sequence, string text) =>
        new("LQ_s", sequence, Encoding.UTF8.GetBytes(text));

    private static StreamEntry Entry(ulong sequence, string text) =>
        new(sequence, EntryKind.Data, Encoding.UTF8.GetBytes(text));

    private static string Append(string reply, string payload) =>
        Message($"HPUB lq.LQ_s.d {reply} 12 {{0}}", "NATS/1.0\r\n\r\n" + payload);

    private static string Message(string line, string payload) =>
        string.Format(System.Globalization.CultureInfo.InvariantCulture, line, payload.Length) + $"\r\n{payload}\r\n";

    private static void Read(EngineWitness.Connection connection, string text, int piece, bool isFromBroker)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        for (int at = 0; at < bytes.Length; at += piece)
            connection.Read(bytes.AsSpan(at, Math.Min(piece, bytes.Length - at)), isFromBroker);
    }
}
