using LightQ.Server.Security;
using Xunit;

namespace LightQ.Tests.Server.Security;

public sealed class FairQueueTests
{
    [Fact]
    public void Sources_take_turns_and_each_keeps_its_order()
    {
        var queue = new FairQueue<string>();
        foreach (string item in new[] { "a1", "a2", "a3", "b1", "c1", "c2" })
            queue.Enqueue(item, item[..1]);
        Assert.Equal(6, queue.Count);
        Assert.Equal(["a1", "b1", "c1", "a2"], Take(queue, 4));
        queue.Enqueue("b2", "b");
        Assert.Equal(["c2", "a3", "b2"], Take(queue, 10));
        Assert.Equal(0, queue.Count);
        Assert.False(queue.TryDequeue(out _));
    }

    [Fact]
    public void A_source_that_comes_back_has_its_turn_behind_the_others()
    {
        var queue = new FairQueue<int>();
        queue.Enqueue(10, 1);
        Assert.Equal([10], Take(queue, 1));
        queue.Enqueue(20, 2);
        queue.Enqueue(11, 1);
        Assert.Equal([20, 11], Take(queue, 2));
    }

    [Fact]
    public void The_source_that_has_most_gives_way_but_not_to_one_that_has_about_as_much()
    {
        var queue = new FairQueue<string>();
        Assert.False(queue.TryDisplace(out _, "a"));
        foreach (string item in new[] { "a1", "a2", "a3", "b1" })
            queue.Enqueue(item, item[..1]);
        Assert.False(queue.TryDisplace(out _, "a"));
        Assert.True(queue.TryDisplace(out string? displaced, "b"));
        Assert.Equal(("a1", 3), (displaced, queue.Count));
        Assert.False(queue.TryDisplace(out _, "b"));
        Assert.True(queue.TryDisplace(out displaced, "c"));
        Assert.Equal("a2", displaced);
        Assert.False(queue.TryDisplace(out _, "c"));
        queue.Enqueue("c1", "c");
        Assert.Equal(["a3", "b1", "c1"], Take(queue, 10));
    }

    [Fact]
    public void A_random_run_is_as_a_model_says()
    {
        var random = new Random(7);
        var queue = new FairQueue<(int Source, int Number)>();
        // Sources in the order of their turns, each with what it waits for.
        var model = new List<List<(int Source, int Number)>>();
        for (int i = 0; i < 20_000; i++)
        {
            if (random.Next(2) == 0)
            {
                int source = random.Next(8);
                queue.Enqueue((source, i), source);
                if (model.Find(own => own[0].Source == source) is { } own)
                    own.Add((source, i));
                else
                    model.Add([(source, i)]);
            }
            else if (model.Count != 0)
            {
                List<(int Source, int Number)> first = model[0];
                model.RemoveAt(0);
                Assert.True(queue.TryDequeue(out (int Source, int Number) item));
                Assert.Equal(first[0], item);
                first.RemoveAt(0);
                if (first.Count != 0)
                    model.Add(first);
            }
            Assert.Equal(model.Sum(own => own.Count), queue.Count);
        }
    }

    [Fact]
    public void In_a_source_its_own_sources_take_turns()
    {
        var queue = new FairQueue<string>();
        foreach (string item in new[] { "a1x", "a1y", "a1z", "a2x", "b1x", "b1y" })
            queue.Enqueue(item, item[..1], item[..2]);
        Assert.Equal(["a1x", "b1x", "a2x", "b1y", "a1y", "a1z"], Take(queue, 10));
    }

    [Fact]
    public void Room_is_made_on_the_first_level_on_which_another_source_has_more()
    {
        var queue = new FairQueue<string>();
        foreach (string item in new[] { "a1x", "a1y", "a1z", "a2x", "b1x" })
            queue.Enqueue(item, item[..1], item[..2]);
        Assert.True(queue.TryDisplace(out string? displaced, "c", "c1")); // Of a, which has most, of a1.
        Assert.Equal("a1x", displaced);
        Assert.True(queue.TryDisplace(out displaced, "a", "a3")); // Of its own address, of the account that has most.
        Assert.Equal(("a1y", 3), (displaced, queue.Count));
        Assert.False(queue.TryDisplace(out displaced, "a", "a1"));
        Assert.Equal(["a1z", "b1x", "a2x"], Take(queue, 10));
    }

    private static List<T> Take<T>(FairQueue<T> queue, int most)
    {
        var taken = new List<T>();
        while (taken.Count < most && queue.TryDequeue(out T? item))
            taken.Add(item);
        return taken;
    }
}
