using System.Text;
using LightQ.Bench.Nats;
using LightQ.Protocol;
using Xunit;

namespace LightQ.Tests.Bench.Nats;

/// <summary>The parser must find the same whatever the server's bytes are split at.</summary>
public sealed class NatsParserTests
{
    private const string Stream =
        "INFO {\"server_id\":\"X\"}\r\nPING\r\nMSG bench 1 5\r\nhello\r\nMSG bench 1 5\r\nwor\r\n\r\n+OK\r\n"
        + "MSG bench 1 reply.to 2\r\nhi\r\nMSG bench 1 0\r\n\r\nMSG bench 1 12\r\nhello, world\r\nPONG\r\n-ERR 'Slow "
        + "Consumer'\r\nMSG bench 1 5\r\nagain\r\n";

    private static readonly string[] Expected =
    [
        "INFO {\"server_id\":\"X\"}",
        "PING",
        "<hello>",
        "<wor\r\n>",
        "+OK",
        "<hi>",
        "<>",
        "<hello, world>",
        "PONG",
        "-ERR 'Slow Consumer'",
        "<again>",
    ];

    [Fact]
    public void It_finds_the_same_split_at_every_byte()
    {
        byte[] bytes = Encoding.ASCII.GetBytes(Stream);
        for (int first = 0; first <= bytes.Length; first++)
        {
            var found = new Recorder();
            var parser = new NatsParser(found);
            Feed(parser, bytes.AsSpan(0, first));
            Feed(parser, bytes.AsSpan(first));
            Assert.Equal(Expected, found.Seen);
        }
    }

    [Fact]
    public void It_finds_the_same_byte_by_byte()
    {
        var found = new Recorder();
        var parser = new NatsParser(found);
        foreach (byte one in Encoding.ASCII.GetBytes(Stream))
            Feed(parser, [one]);

        Assert.Equal(Expected, found.Seen);
    }

    [Fact]
    public void It_goes_round_its_buffer_and_grows_for_a_payload_that_is_larger()
    {
        var found = new Recorder();
        var parser = new NatsParser(found);
        byte[] large = new byte[1_000_000];
        large.AsSpan().Fill((byte)'x');
        byte[] bytes =
        [
            .. Encoding.ASCII.GetBytes(Stream),
            .. Encoding.ASCII.GetBytes($"MSG bench 1 {large.Length}\r\n"),
            .. large,
            .. "\r\n"u8,
        ];
        for (int round = 0; round < 5; round++)
            Feed(parser, bytes);

        Assert.Equal(5 * (Expected.Length + 1), found.Seen.Count);
        Assert.Equal(5, found.Seen.Count(s => s.Length == large.Length + 2));
    }

    [Theory]
    [InlineData("MSG bench 1 x\r\n")]
    [InlineData("MSG bench 1 5\r\nhelloXY")]
    public void Bytes_of_something_else_are_refused(string text)
    {
        var parser = new NatsParser(new Recorder());

        Assert.Throws<ProtocolException>(() => Feed(parser, Encoding.ASCII.GetBytes(text)));
    }

    private static void Feed(NatsParser parser, ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            Span<byte> room = parser.Room();
            int count = Math.Min(room.Length, bytes.Length);
            bytes[..count].CopyTo(room);
            bytes = bytes[count..];
            parser.Received(count);
        }
    }

    private sealed class Recorder : INatsSink
    {
        public List<string> Seen { get; } = [];

        public void OnMessage(ReadOnlySpan<byte> payload) => Seen.Add($"<{Encoding.ASCII.GetString(payload)}>");

        public void OnLine(ReadOnlySpan<byte> line) => Seen.Add(Encoding.ASCII.GetString(line));
    }
}
