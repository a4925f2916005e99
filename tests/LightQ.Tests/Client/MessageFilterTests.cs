using System.Text;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class MessageFilterTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("type = 'order'", true)]
    [InlineData("type='order'", true)]
    [InlineData("type = 'orde'", false)]
    [InlineData("type = 'orders'", false)]
    [InlineData("TYPE = 'order'", false)]
    [InlineData("type != 'order'", false)]
    [InlineData("type != 'x'", true)]
    [InlineData("missing != 'x'", true)]
    [InlineData("missing = ''", false)]
    [InlineData("empty = ''", true)]
    [InlineData("region ^= 'eu'", true)]
    [InlineData("region ^= ''", true)]
    [InlineData("region ^= 'eu-west-1x'", false)]
    [InlineData("exists(region)", true)]
    [InlineData("EXISTS ( missing )", false)]
    [InlineData("not exists(missing)", true)]
    [InlineData("not not exists(missing)", false)]
    [InlineData("tag = 'a' and tag = 'b'", true)]
    [InlineData("tag != 'a'", false)]
    [InlineData("content-type = 'text/plain'", true)]
    [InlineData("\"odd name\" = 'it''s'", true)]
    [InlineData("type = 'order' and region ^= 'eu' and exists(tag)", true)]
    [InlineData("type = 'x' or region ^= 'eu'", true)]
    [InlineData("type = 'x' and region ^= 'eu' or exists(tag)", true)]
    [InlineData("type = 'x' and (region ^= 'eu' or exists(tag))", false)]
    [InlineData("not type = 'x' and exists(tag)", true)]
    [InlineData("not (type = 'x' or exists(tag))", false)]
    [InlineData("not (type = 'x' and exists(tag)) AND NOT exists(missing)", true)]
    public void A_filter_says_whether_a_message_is_wanted(string filter, bool wanted)
    {
        byte[] headers = Headers(
            ("type", "order"),
            ("region", "eu-west-1"),
            ("tag", "a"),
            ("tag", "b"),
            ("empty", ""),
            ("odd name", "it's")
        );
        byte[] all = new byte[headers.Length + 64];
        headers.CopyTo(all, 0);
        int length =
            headers.Length
            + RecordWriter.WriteWellKnownHeader(
                all.AsSpan(headers.Length),
                WellKnownHeader.ContentType,
                "text/plain"u8
            );
        Assert.Equal(wanted, MessageFilter.Parse(filter).Matches(all.AsSpan(0, length)));
        Assert.Equal(filter, MessageFilter.Parse(filter).ToString());
    }

    [Theory]
    [InlineData("", 1, "name")]
    [InlineData("   ", 4, "name")]
    [InlineData("type", 5, "=, != or ^=")]
    [InlineData("type = order", 8, "single quotes")]
    [InlineData("type = 'order", 8, "not closed")]
    [InlineData("type = 'a' 'b'", 12, "the end")]
    [InlineData("type = 'a' and", 15, "name")]
    [InlineData("(type = 'a'", 12, ")")]
    [InlineData("type = 'a')", 11, "the end")]
    [InlineData("exists type", 8, "(")]
    [InlineData("exists('x')", 8, "name")]
    [InlineData("type < 'a'", 6, "=, != or ^=")]
    [InlineData("9x = 'a'", 1, "name")]
    [InlineData("\"\" = 'a'", 1, "1 to 255")]
    public void A_text_that_is_no_filter_is_refused_with_the_position(string text, int position, string expected)
    {
        LightQException e = Assert.Throws<LightQException>(() => MessageFilter.Parse(text));
        Assert.Equal(ErrorCode.InvalidArgument, e.Code);
        Assert.Contains($"at position {position}.", e.Message, StringComparison.Ordinal);
        Assert.Contains(expected, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_filter_is_bounded_in_length_conditions_and_depth()
    {
        string many = string.Join(" or ", Enumerable.Repeat("a='b'", 256));
        Assert.False(MessageFilter.Parse(many).Matches(default(ReadOnlySpan<byte>)));
        Assert.Contains("256 conditions", Refused(many + " or a='b'"), StringComparison.Ordinal);
        Assert.Contains(
            "64 deep",
            Refused(new string('(', 64) + "a='b'" + new string(')', 64)),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "64 deep",
            Refused(string.Concat(Enumerable.Repeat("not ", 1000)) + "a='b'"),
            StringComparison.Ordinal
        );
        Assert.Contains("at most 4096", Refused(new string(' ', 4097)), StringComparison.Ordinal);
        _ = MessageFilter.Parse(new string('(', 63) + "a='b'" + new string(')', 63));

        static string Refused(string text) => Assert.Throws<LightQException>(() => MessageFilter.Parse(text)).Message;
    }

    [Fact]
    public void Looking_at_a_message_allocates_nothing()
    {
        byte[] headers = Headers(("type", "order"), ("region", "eu-west-1"));
        var filter = MessageFilter.Parse("type = 'x' or not (region ^= 'us' or exists(missing)) and type != 'y'");
        Assert.True(filter.Matches(headers));
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 1000; i++)
            filter.Matches(headers);
        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }

    [Fact]
    public void A_message_with_damaged_headers_is_wanted() =>
        Assert.True(MessageFilter.Parse("type = 'order'").Matches([200, 1, 2]));

    [Fact]
    public async Task Only_wanted_messages_come_and_the_others_are_settled()
    {
        using var broker = new FakeBroker();
        var time = new Shared.ManualTime();
        await using var client = new LightQClient(broker.Options with { TimeProvider = time });
        var options = new ConsumeOptions
        {
            Filter = MessageFilter.Parse("type = 'b'"),
            SettleMode = SettleMode.Explicit,
        };
        await using var messages = client.ConsumeAsync("orders", options, Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        byte[][] batches = [Typed(0, "a", "b", "a"), Typed(3, "a", "a"), Typed(5, "b", "a"), Typed(7, "b")];
        await connection.DeliverAsync(subscribe.Header.Stream, batches);
        var seen = new List<long>();
        for (int i = 0; i < 3; i++)
        {
            Assert.True(await moved);
            seen.Add(messages.Current.Offset);
            moved = messages.MoveNextAsync();
        }
        Assert.Equal([1, 5, 7], seen);
        time.Advance(TimeSpan.FromMilliseconds(20));
        var settled = new List<(long, uint)>();
        while (settled.Sum(s => s.Item2) < 5)
            settled.AddRange(Ranges(await connection.ReadAsync(FrameType.Settle)));
        Assert.Equal([(0, 1), (2, 3), (6, 1)], settled);

        await using var whole = client
            .ConsumeBatchesAsync("orders", options with { SettleMode = SettleMode.Automatic }, Cancel)
            .GetAsyncEnumerator(Cancel);
        moved = whole.MoveNextAsync();
        (subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(subscribe.Header.Stream, batches);
        seen.Clear();
        for (int i = 0; i < 3; i++)
        {
            Assert.True(await moved);
            foreach (RecordView record in whole.Current)
                seen.Add(record.Offset);
            moved = whole.MoveNextAsync();
        }
        Assert.Equal([1, 5, 7], seen);
    }

    private static List<(long, uint)> Ranges(FakeFrame frame)
    {
        var settle = new SettleFrame(frame.Body);
        var ranges = new List<(long, uint)>();
        for (int i = 0; i < settle.Count; i++)
            ranges.Add((settle[i].FirstOffset, settle[i].Count));
        return ranges;
    }

    private static byte[] Typed(long offset, params string[] types)
    {
        byte[] batch = new byte[4096];
        int at = BatchLayout.HeaderSize;
        foreach (string type in types)
            at += RecordWriter.Write(batch.AsSpan(at), "body"u8, default, false, Headers(("type", type)));
        int length = BatchWriter.Complete(batch, at - BatchLayout.HeaderSize, types.Length, default, 1_000_000);
        BatchWriter.Stamp(batch, new BatchStamp(offset, 2_000_000, 3, 0, 0));
        return batch[..length];
    }

    private static byte[] Headers(params (string Name, string Value)[] headers)
    {
        byte[] encoded = new byte[1024];
        int at = 0;
        foreach ((string name, string value) in headers)
        {
            at += RecordWriter.WriteHeader(
                encoded.AsSpan(at),
                Encoding.UTF8.GetBytes(name),
                Encoding.UTF8.GetBytes(value)
            );
        }

        return encoded[..at];
    }
}
