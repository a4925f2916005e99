using FsCheck;
using FsCheck.Fluent;
using LightQ.Broker.Subscriptions;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>Ranges of offsets against the simplest thing that could be right: a set of numbers.</summary>
public sealed class UnsettledMessagesTests
{
    [Fact]
    public void Ranges_are_a_set_of_offsets() =>
        Prop.ForAll(Gen.Choose(0, 9_999).ArrayOf(200).ToArbitrary(), Agrees).QuickCheckThrowOnFailure();

    [Fact]
    public void Receipts_in_order_need_one_range()
    {
        var unsettled = new UnsettledMessages();
        for (long offset = 0; offset < 10_000; offset += 2)
        {
            unsettled.Add(offset, offset + 2);
            Assert.Equal(1, unsettled.Count);
            Assert.True(unsettled.TryRemove(offset, 1));
            Assert.True(unsettled.TryRemove(offset + 1, 1));
        }
        Assert.Equal(0, unsettled.Count);
    }

    /// <summary>
    /// Each step sends a few messages, with a gap before them now and then, and settles a range somewhere.
    /// </summary>
    private static bool Agrees(int[] steps)
    {
        var unsettled = new UnsettledMessages();
        var model = new HashSet<long>();
        long end = 0;
        foreach (int step in steps)
        {
            long first = end + (step % 7 == 0 ? 3 : 0);
            end = first + (step % 5);
            unsettled.Add(first, end);
            for (long offset = first; offset < end; offset++)
                model.Add(offset);
            long from = step % (end + 2);
            uint count = (uint)(1 + (step % 3));
            bool isKnown = Enumerable.Range(0, (int)count).All(i => model.Contains(from + i));
            if (unsettled.TryRemove(from, count) != isKnown)
                return false;
            for (long offset = from; isKnown && offset < from + count; offset++)
                model.Remove(offset);
            if (unsettled.Count != model.Count(offset => !model.Contains(offset - 1)))
                return false;
        }
        return model.Order().All(offset => unsettled.TryRemove(offset, 1)) && unsettled.Count == 0;
    }
}
