using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

public sealed class PayloadEntryTests
{
    [Fact]
    public void Payloads_of_every_size_come_back_zero_padded()
    {
        using RingMemory memory = RingMemory.Pinned(1024);
        memory.Memory.Span.Fill(0xee);
        var ring = new ByteRing(memory, 128);
        long position = 0;
        for (int size = 0; size <= 120; size++)
        {
            byte[] payload = [.. Enumerable.Range(1, size).Select(i => (byte)i)];
            Assert.Equal(ClaimResult.Claimed, ring.TryPublishPayload(payload));
            Assert.True(ring.TryGetRun(position, 1, out RingRun run));
            Assert.Equal(PayloadEntry.LengthFor(size), run.Length);
            Assert.Equal(payload, PayloadEntry.Payload(run.Span).ToArray());
            Assert.Equal(-1, run.Span[(8 + size)..].IndexOfAnyExcept((byte)0));
            position = run.NextPosition;
        }

        Assert.Equal(ClaimResult.TooLarge, ring.TryPublishPayload(new byte[121]));
    }

    [Theory]
    [InlineData(0, 8)]
    [InlineData(1, 16)]
    [InlineData(8, 16)]
    [InlineData(29, 40)]
    public void An_entry_is_header_and_payload_rounded_up(int payload, int entry) =>
        Assert.Equal(entry, PayloadEntry.LengthFor(payload));

    [Theory]
    [InlineData(-1)]
    [InlineData(int.MaxValue)]
    public void An_impossible_payload_length_is_refused(int length) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => PayloadEntry.LengthFor(length));
}
