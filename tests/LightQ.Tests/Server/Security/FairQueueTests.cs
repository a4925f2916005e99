using LightQ.Server.Security;
using Xunit;

namespace LightQ.Tests.Server.Security;

public sealed class FairQueueTests
{
    [Fact]
    public void Sources_take_turns_and_each_keeps_its_order()
    {
        var queue = new FairQueue<string, string>();
        foreach (string item in new[] { "a1", "a2", "a3", "b1", "c1", "c2" })
            queue.Enqueue(item[..1], item);
        Assert.Equal(6, queue.Count);
        Assert.Equal(["a1", "b1", "c1", "a2"], Take(queue, 4));
        queue.Enqueue("b", "b2");
        Assert.Equal(["c2", "a3", "b2"], Take(queue, 10));
        Assert.Equal(0, queue.Count);
        Assert.False(queue.TryDequeue(out _));
    }

    [Fact]
    public void A_source_that_comes_back_has_its_turn_behind_the_others()
    {
        var queue = new FairQueue<int, int>();
        queue.Enqueue(1, 10);
        Assert.Equal([10], Take(queue, 1));
        queue.Enqueue(2, 20);
        queue.Enqueue(1, 11);
        Assert.Equal([20, 11], Take(queue, 2));
    }

    [Fact]
    public void The_source_that_has_most_gives_way_but_not_to_one_that_has_about_as_much()
    {
        var queue = new FairQueue<string, string>();
        Assert.False(queue.TryDisplace("a", out _));
        foreach (string item in new[] { "a1", "a2", "a3", "b1" })
            queue.Enqueue(item[..1], item);
        Assert.False(queue.TryDisplace("a", out _));
        Assert.True(queue.TryDisplace("b", out string? displaced));
        Assert.Equal(("a1", 3), (displaced, queue.Count));
        Assert.False(queue.TryDisplace("b", out _));
        Assert.True(queue.TryDisplace("c", out displaced));
        Assert.Equal("a2", displaced);
        Assert.False(queue.TryDisplace("c", out _));
        queue.Enqueue("c", "c1");
        Assert.Equal(["a3", "b1", "c1"], Take(queue, 10));
    }

    [Fact]
    public void A_random_run_is_as_a_model_says()
    {
        var random = new Random(7);
        var queue = new FairQueue<int, (int Source, int Number)>();
        // Sources in the order of their turns, each with what it waits for.
        var model = new List<List<(int Source, int Number)>>();
        for (int i = 0; i < 20_000; i++)
        {
            if (random.Next(2) == 0)
            {
                int source = random.Next(8);
                queue.Enqueue(source, (source, i));
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

    private static List<T> Take<TSource, T>(FairQueue<TSource, T> queue, int most)
        where TSource : notnull
    {
        var taken = new List<T>();
        while (taken.Count < most && queue.TryDequeue(out T? item))
            taken.Add(item);
        return taken;
    }
}
