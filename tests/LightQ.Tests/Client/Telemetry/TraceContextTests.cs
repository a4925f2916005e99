using System.Diagnostics;
using System.Text;
using LightQ.Client;
using LightQ.Client.Telemetry;
using Xunit;

namespace LightQ.Tests.Client.Telemetry;

public sealed class TraceContextTests
{
    private const string Parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    [Fact]
    public void A_context_goes_behind_the_messages_own_headers_and_comes_back()
    {
        using Activity source = new Activity("x") { TraceStateString = "a=1,b=2" }
            .SetIdFormat(ActivityIdFormat.W3C)
            .Start();
        MessageHeaders own = new() { { "h", "v" } };
        MessageHeaders both = TraceContext.AddTo(own, source)!;
        Assert.Equal((1, 3), (own.Count, both.Count));
        Assert.StartsWith(Convert.ToHexString(own.Encoded), Convert.ToHexString(both.Encoded));
        Assert.True(TraceContext.TryRead(new HeaderEnumerator(both.Encoded), out ActivityContext context));
        Assert.Equal(
            (source.TraceId, source.SpanId, "a=1,b=2", true),
            (context.TraceId, context.SpanId, context.TraceState, context.IsRemote)
        );
        Assert.False(TraceContext.TryRead(new HeaderEnumerator(own.Encoded), out _));
    }

    [Fact]
    public void A_context_takes_59_bytes()
    {
        using Activity source = new Activity("x").SetIdFormat(ActivityIdFormat.W3C).Start();
        Assert.Equal(59, TraceContext.AddTo(null, source)!.Encoded.Length);
    }

    [Fact]
    public void Without_a_w3c_context_or_room_the_headers_stay_as_they_are()
    {
        MessageHeaders full = new() { { "h", new byte[65_535 - 4 - 58] } };
        using Activity w3c = new Activity("x").SetIdFormat(ActivityIdFormat.W3C).Start();
        using Activity hierarchical = new Activity("y").SetIdFormat(ActivityIdFormat.Hierarchical).Start();
        Assert.Same(full, TraceContext.AddTo(full, w3c));
        Assert.Null(TraceContext.AddTo(null, null));
        Assert.Null(TraceContext.AddTo(null, hierarchical));
    }

    [Theory]
    [InlineData("é=1")]
    [InlineData(null)]
    public void A_state_that_may_not_be_sent_is_left_out(string? state)
    {
        using Activity source = new Activity("x") { TraceStateString = state ?? new string('a', 513) }
            .SetIdFormat(ActivityIdFormat.W3C)
            .Start();
        MessageHeaders headers = TraceContext.AddTo(null, source)!;
        Assert.Equal(1, headers.Count);
        Assert.True(TraceContext.TryRead(new HeaderEnumerator(headers.Encoded), out ActivityContext context));
        Assert.Null(context.TraceState);
    }

    [Fact]
    public void A_context_written_by_name_is_read_too_and_the_first_counts()
    {
        MessageHeaders headers = new()
        {
            { "traceparent", Parent },
            { "tracestate", "v=1" },
            { "traceparent", Parent.Replace('1', '2') },
        };
        Assert.True(TraceContext.TryRead(new HeaderEnumerator(headers.Encoded), out ActivityContext context));
        Assert.Equal(("b7ad6b7169203331", "v=1"), (context.SpanId.ToString(), context.TraceState));
    }

    [Theory]
    [InlineData("")]
    [InlineData("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331")]
    [InlineData("00-00000000000000000000000000000000-b7ad6b7169203331-01")]
    [InlineData("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]
    public void What_is_no_context_is_none(string parent) =>
        Assert.False(
            TraceContext.TryRead(new HeaderEnumerator(new MessageHeaders { { "traceparent", parent } }.Encoded), out _)
        );

    [Fact]
    public void Damaged_headers_are_no_context()
    {
        byte[] cut = Encoding.ASCII.GetBytes($"\u000btraceparent\u0037\u0000{Parent}")[..30];
        Assert.False(TraceContext.TryRead(new HeaderEnumerator(cut), out _));
        Assert.False(TraceContext.TryRead(new HeaderEnumerator([0, 0, 0]), out _));
    }
}
