using System.Globalization;
using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Tests.Shared;
using LightQ.Tests.Storage;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>What a broker keeps of a durable topic that nobody uses.</summary>
[CollectionDefinition(nameof(IdleTopicMemoryTests), DisableParallelization = true)]
[Collection(nameof(IdleTopicMemoryTests))]
public sealed class IdleTopicMemoryTests : IAsyncLifetime
{
    private const int Topics = 100,
        MostRounds = 20;

    /// <summary>Managed bytes: it has 2.3 KiB. A ring's cursors alone would be another 2.</summary>
    private const int MostBytesEach = 3 * 1024;

    /// <summary>
    /// One that holds messages also knows its segment, with a path and the beginning of an index: half a KiB more.
    /// </summary>
    private const int MostBytesEachWithMessages = 4 * 1024;

    /// <summary>
    /// Topics that are used before anything is measured: writers and housekeeping keep 270 KiB from the first use on.
    /// </summary>
    private const int WarmUps = 8;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-idle-").FullName;
    private readonly ManualTime _time = new();
    private LightQBroker _broker = null!;
    private List<Partition> _first = null!;

    public async ValueTask InitializeAsync()
    {
        // Without the scrubber, whose buffer of 256 KiB comes with the first thing it reads, and is no topic's.
        _broker = await LightQBroker.OpenAsync(_directory, new BrokerOptions { ScrubBytesPerSecond = 0 }, _time);
        _first = Create("first", Topics); // Tables grow by doubling: those of the second half have room already.
    }

    public async ValueTask DisposeAsync()
    {
        await _broker.DisposeAsync();
        Directory.Delete(_directory, recursive: true);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public void A_topic_that_nobody_has_published_to_takes_little_memory()
    {
        FaultRun.RequireTier("It has the program to itself for many seconds.");
        // What other tests left may go at any moment, and makes a round look better or worse.
        long each = 0;
        for (int round = 0; round < MostRounds && each is <= 0 or > MostBytesEach; round++)
        {
            GC.WaitForPendingFinalizers();
            long before = GC.GetTotalMemory(forceFullCollection: true);
            Create(Name("round", round), Topics);
            each = (GC.GetTotalMemory(forceFullCollection: true) - before) / Topics;
        }

        Assert.InRange(each, 1, MostBytesEach);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public void A_topic_that_has_come_to_rest_takes_little_memory_again()
    {
        FaultRun.RequireTier("It has the program to itself for many seconds.");
        Use(_first[..WarmUps]);
        long before = GC.GetTotalMemory(forceFullCollection: true);
        List<Partition> used = Create("second", Topics);
        Use(used);
        TimeSpan checkpoints = new BrokerOptions().CheckpointInterval;
        bool isSmall = SpinWait.SpinUntil(
            () =>
            {
                _time.Advance(checkpoints);
                Thread.Sleep(10); // Housekeeping has a thread of its own.
                return BytesEach() <= MostBytesEachWithMessages;
            },
            Patience
        );
        Assert.True(isSmall, $"{BytesEach()} bytes each");

        Publish(used[0]);
        Assert.True(SpinWait.SpinUntil(() => used[0].Log.DurableOffset == 2, Patience));

        long BytesEach() => (GC.GetTotalMemory(forceFullCollection: true) - before) / Topics;
    }

    private static void Use(List<Partition> topics)
    {
        foreach (Partition partition in topics)
            Publish(partition);
        Assert.True(SpinWait.SpinUntil(() => topics.TrueForAll(p => p.Log.DurableOffset == 1), Patience));
    }

    private static void Publish(Partition partition)
    {
        var batch = new BatchView(TestBatch.Make(1));
        lock (partition.AppendLock)
            Assert.Equal(AppendResult.Appended, partition.Append(batch, partition.NextAppendTime(), out _));
        partition.FlushAndWake();
    }

    private List<Partition> Create(string name, int count) =>
        [
            .. Enumerable
                .Range(0, count)
                .Select(i =>
                    _broker
                        .CreateTopic(
                            Name(name, i),
                            new TopicSettings { Kind = TopicKind.Durable, MaxMessageBytes = 1024 }
                        )
                        .Partitions[0]
                ),
        ];

    private static string Name(string name, int number) =>
        string.Create(CultureInfo.InvariantCulture, $"{name}-{number}");
}
