using System.Globalization;
using System.Text;
using LightQ.Broker.Deduplication;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>What a window of message ids remembers, for how long, and what that takes.</summary>
public sealed class DedupWindowTests
{
    private const long Second = 1_000_000;
    private static readonly TimeSpan TenSeconds = TimeSpan.FromSeconds(10);

    [Fact]
    public void An_id_is_known_until_its_time_is_over_and_can_then_come_again()
    {
        var window = new DedupWindow(TenSeconds, 100);
        Assert.False(Find(window, "a", Second, out _));
        window.Add(5, Second);
        Assert.True(Find(window, "a", (11 * Second) - 1, out long offset));
        Assert.Equal(5, offset);
        Assert.False(Find(window, "a", 11 * Second, out _));
        window.Add(9, 11 * Second);
        Assert.True(Find(window, "a", 12 * Second, out offset));
        Assert.Equal((9, 1), (offset, window.Count));
    }

    [Fact]
    public void Beyond_the_count_the_oldest_are_forgotten_first()
    {
        var window = new DedupWindow(TenSeconds, 3);
        for (int i = 0; i < 5; i++)
            Add(window, $"{i}", i, Second);
        Assert.Equal(3, window.Count);
        Assert.Equal(
            [false, false, true, true, true],
            Enumerable.Range(0, 5).Select(i => Find(window, $"{i}", Second, out _))
        );
    }

    [Fact]
    public void Who_publishes_many_ids_has_none_of_another_user_forgotten()
    {
        var window = new DedupWindow(TenSeconds, 100);
        for (int i = 0; i < 10; i++)
            Add(window, $"{i}", i, Second, user: 1000);
        bool forgets = false;
        for (int i = 0; i < 1000; i++)
            forgets |= Add(window, $"many-{i}", 10 + i, Second, user: 2000);
        Assert.True(forgets);
        Assert.Equal(100, window.Count);
        for (int i = 0; i < 10; i++)
            Assert.True(Find(window, $"{i}", Second, out _, user: 1000));
        Assert.False(Find(window, "many-0", Second, out _, user: 2000));
        Assert.True(Find(window, "many-999", Second, out _, user: 2000));
        // The next one that comes gets room, too.
        Assert.True(Add(window, "x", 2000, Second, user: 3000));
        Assert.True(Find(window, "x", Second, out _, user: 3000));
        Assert.Null(window.Forget(11 * Second, int.MaxValue));
        Assert.Equal(0, window.Count);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(1023)]
    [InlineData(1024)]
    [InlineData(20_000)]
    public void It_takes_no_more_memory_than_is_said_of_an_id_however_many_come(int most)
    {
        var window = new DedupWindow(TenSeconds, most);
        long largest = 0;
        for (int i = 0; i < 3 * most; i++)
        {
            Add(window, $"{i}", i, i);
            largest = Math.Max(largest, window.Bytes);
        }
        Assert.Equal(most, window.Count);
        // 48 bytes of each, and a chunk of entries and of buckets that are not full.
        Assert.InRange(largest, most * 44L, (most * 48L) + (2 * 1024 * 44L));
    }

    [Fact]
    public void The_memory_is_given_back_when_all_is_forgotten()
    {
        var window = new DedupWindow(TenSeconds, 100_000);
        for (int i = 0; i < 5000; i++)
            Add(window, $"{i}", i, Second);
        Assert.True(window.Bytes > 5000 * 44);
        Assert.Equal(11 * Second, window.Forget(2 * Second, int.MaxValue));
        Assert.Equal(5000, window.Count);
        Assert.Equal(11 * Second, window.Forget(11 * Second, 4999));
        Assert.Null(window.Forget(11 * Second, 1));
        Assert.Equal(0, window.Count);
        Assert.InRange(window.Bytes, 0, 1024);
        Assert.False(Find(window, "7", 11 * Second, out _));
    }

    [Fact]
    public void Whatever_comes_it_answers_as_a_plain_list_of_ids_would()
    {
        int seed = FaultRun.NewSeed();
        var random = new Random(seed);
        for (int round = 0; round < 30; round++)
        {
            int most = random.Next(1, 5000);
            var window = new DedupWindow(TimeSpan.FromMicroseconds(random.Next(1, 20_000)), most);
            long micros = (long)window.Window.TotalMicroseconds,
                now = 1;
            var known = new Dictionary<string, (long Offset, long Time)>();
            var order = new Queue<(string Id, long Time)>();
            for (int step = 0; step < 20_000; step++)
            {
                now += random.Next(3);
                string id = random.Next(2 * most).ToString(CultureInfo.InvariantCulture);
                while (order.TryPeek(out (string Id, long Time) oldest) && now - oldest.Time >= micros)
                    Forget(known, order);
                bool expected = known.TryGetValue(id, out (long Offset, long Time) entry);
                bool found = Find(window, id, now, out long offset);
                Assert.True(
                    expected == found && (!found || offset == entry.Offset),
                    $"LIGHTQ_SEED={seed}: round {round}, step {step}, {id}"
                );
                if (found)
                    continue;
                window.Add(step, now);
                if (order.Count == most)
                    Forget(known, order);
                known[id] = (step, now);
                order.Enqueue((id, now));
            }
        }
    }

    [Fact]
    public void Ids_that_another_window_or_the_log_has_are_taken_over_once()
    {
        var before = new DedupWindow(TenSeconds, 10);
        for (int i = 0; i < 10; i++)
            Add(before, $"{i}", i, Second + i);
        var after = new DedupWindow(TenSeconds, 4);
        foreach (RememberedId id in before.Ids().Concat(before.Ids()))
            after.Add(id);
        Assert.Equal([6, 7, 8, 9], after.Ids().Select(i => i.Offset));
    }

    private static void Forget(Dictionary<string, (long Offset, long Time)> known, Queue<(string Id, long Time)> order)
    {
        (string id, long time) = order.Dequeue();
        if (known[id].Time == time)
            known.Remove(id);
    }

    private static bool Find(DedupWindow window, string id, long now, out long offset, uint user = 0) =>
        window.TryFind(Encoding.UTF8.GetBytes(id), now, out offset, user);

    private static bool Add(DedupWindow window, string id, long offset, long now, uint user = 0)
    {
        Find(window, id, now, out _, user);
        return window.Add(offset, now);
    }
}
