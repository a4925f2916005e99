using System.Text;
using LightQ.Cli.Messages;
using LightQ.Cli.Output;
using Xunit;

namespace LightQ.Tests.Cli.Messages;

/// <summary>Lines must come out the same wherever a read happens to end.</summary>
public sealed class LineBufferTests
{
    private const int NoLimit = 1 << 20;

    [Theory]
    [InlineData("a\nb\n", new[] { "a", "b" })]
    [InlineData("a\nb", new[] { "a", "b" })]
    [InlineData("\n\n", new[] { "", "" })]
    [InlineData("a\r\nb\r\n", new[] { "a\r", "b\r" })]
    [InlineData("", new string[0])]
    [InlineData("\n", new[] { "" })]
    [InlineData(
        "one longer line than the block is\nx\n\nanother one that is quite long\nend",
        new[] { "one longer line than the block is", "x", "", "another one that is quite long", "end" }
    )]
    public void A_text_splits_at_line_feeds_whatever_the_reads(string text, string[] lines)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        for (int block = 4; block <= 64; block *= 2)
        {
            for (int read = 1; read <= Math.Max(1, bytes.Length); read++)
                Assert.Equal(lines, Split(bytes, block, read).Select(Encoding.UTF8.GetString));
        }
    }

    [Fact]
    public void Bytes_that_are_not_text_stay_as_they_are()
    {
        byte[] bytes = [0xFF, 0x00, 0x0D, 0x0A, 0xC3, 0x0A, 0x80];

        List<byte[]> lines = Split(bytes, block: 4, read: 3);

        Assert.Equal<byte[]>(
            [
                [0xFF, 0x00, 0x0D],
                [0xC3],
                [0x80],
            ],
            lines
        );
    }

    [Fact]
    public void Lines_join_to_the_text_they_came_from_at_every_split()
    {
        var random = new Random(1);
        byte[] bytes = new byte[700];
        random.NextBytes(bytes);
        for (int i = 0; i < bytes.Length; i++)
        {
            if (bytes[i] < 20)
                bytes[i] = (byte)'\n';
        }
        bytes[^1] = (byte)'\n';
        for (int first = 1; first < bytes.Length; first++)
        {
            var lines = new List<byte[]>();
            var buffer = new LineBuffer(64, NoLimit);
            Feed(buffer, bytes.AsSpan(0, first), lines);
            Feed(buffer, bytes.AsSpan(first), lines);
            Assert.Equal(bytes, lines.SelectMany(l => l.Append((byte)'\n')));
        }
    }

    [Fact]
    public void A_line_above_the_limit_is_refused_before_memory_grows_without_bound()
    {
        var buffer = new LineBuffer(16, maxLineBytes: 100);

        var refused = Assert.Throws<CommandException>(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                Memory<byte> room = buffer.Room();
                room.Span.Fill((byte)'x');
                buffer.Received(room.Length);
                Assert.False(buffer.TryPeek(out _));
            }
        });

        Assert.Equal(ExitCode.Failed, refused.ExitCode);
    }

    private static List<byte[]> Split(byte[] bytes, int block, int read)
    {
        var lines = new List<byte[]>();
        var buffer = new LineBuffer(block, NoLimit);
        for (int at = 0; at < bytes.Length; at += read)
            Feed(buffer, bytes.AsSpan(at, Math.Min(read, bytes.Length - at)), lines);
        if (buffer.TryPeekRest(out ReadOnlySpan<byte> rest))
            lines.Add(rest.ToArray());
        return lines;
    }

    private static void Feed(LineBuffer buffer, ReadOnlySpan<byte> bytes, List<byte[]> lines)
    {
        while (!bytes.IsEmpty)
        {
            Span<byte> room = buffer.Room().Span;
            int count = Math.Min(room.Length, bytes.Length);
            bytes[..count].CopyTo(room);
            bytes = bytes[count..];
            buffer.Received(count);
            while (buffer.TryPeek(out ReadOnlySpan<byte> line))
            {
                lines.Add(line.ToArray());
                buffer.Advance();
            }
        }
    }
}
