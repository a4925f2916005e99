using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests.Delivery.Workloads;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// What a group with explicit settlement owes its users whatever they do: a healthy message is never dead-lettered, none
/// is handed out behind its lock, all are handled, none counts a delivery that no handler saw, and members that do equal
/// work get equal shares.
/// </summary>
[Trait("Tier", "C")]
public sealed class RandomWorkloadTests
{
    private const int AtOnce = 4,
        MaxDeliveries = 6;
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Groups_keep_what_they_promise_under_random_workloads()
    {
        int seed = FaultRun.NewSeed();
        int workloads = FaultRun.Times(plain: AtOnce / 2, c: 4 * AtOnce, n: 100 * AtOnce);
        await using TestServer server = await TestServer.StartAsync();
        var wrong = new List<string>();
        await Parallel.ForAsync(
            0,
            workloads,
            new ParallelOptions { MaxDegreeOfParallelism = AtOnce, CancellationToken = Cancel },
            async (i, _) =>
            {
                Workload workload = Workload.From(new Random(unchecked(seed + i)));
                IReadOnlyList<string> found = await RunAsync(server, $"jobs-{i}", workload);
                lock (wrong)
                    wrong.AddRange(found.Take(5).Select(f => $"{f} (LIGHTQ_SEED={unchecked(seed + i)}: {workload})"));
            }
        );
        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
    }

    private static async Task<IReadOnlyList<string>> RunAsync(TestServer server, string topic, Workload workload)
    {
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec(topic)
            {
                Partitions = workload.Partitions,
                LockDuration = workload.Lock,
                MaxDeliveries = MaxDeliveries,
                RetryDelay = TimeSpan.FromMilliseconds(20),
            },
            Cancel
        );
        await using (Producer producer = await client.CreateProducerAsync(topic, cancellationToken: Cancel))
        {
            for (int i = 0; i < workload.Messages; i++)
            {
                while (!producer.TryPublish("job"u8, $"{i}"))
                    await producer.WaitForRoomAsync(Cancel);
            }
            await producer.FlushAsync(Cancel);
        }

        var calls = new HandlerCalls();
        var members = new List<WorkloadMember>();
        var wrong = new List<string>();
        try
        {
            foreach (SettleHabit habit in workload.Habits)
            {
                members.Add(new WorkloadMember(server, topic, workload, habit, calls));
                await Task.Delay(workload.StartsApart, Cancel);
            }
            await DisturbAsync(server, topic, workload, members, calls);
            Topic at = server.Broker.GetTopic(topic);
            await Eventually.TrueAsync(
                () => Lag(at) == 0,
                Patience,
                () =>
                    $"{Lag(at)} of {workload.Messages} are left after a minute, {calls.Messages} were seen: {workload}"
            );
            if (workload.IsEqual)
            {
                int least = members.Min(m => m.Handled),
                    most = members.Max(m => m.Handled);
                // What the first ones had done before the last one came is theirs.
                double before = workload.Habits.Count * (workload.StartsApart / workload.Usual);
                if (most > (2 * least) + before + 10)
                    wrong.Add($"shares of {string.Join(' ', members.Select(m => m.Handled))}");
            }
        }
        finally
        {
            foreach (WorkloadMember member in members)
                await member.DisposeAsync();
        }
        if (calls.Messages != workload.Messages)
            wrong.Add($"{calls.Messages} of {workload.Messages} were handled");
        if (server.Broker.TryGetTopic(topic + ".dead", out _))
            wrong.Add("there are dead letters");
        return [.. wrong, .. calls.Wrong];
    }

    /// <summary>Kills members in the middle of a message, and has others stand still.</summary>
    private static async Task DisturbAsync(
        TestServer server,
        string topic,
        Workload workload,
        List<WorkloadMember> members,
        HandlerCalls calls
    )
    {
        var random = new Random(workload.Seed);
        for (int i = 0; i < workload.Deaths + workload.Pauses; i++)
        {
            await Task.Delay(random.Next(600), Cancel);
            int victim = random.Next(members.Count);
            if (i >= workload.Deaths)
            {
                members[victim].Pause();
                continue;
            }
            if (!members[victim].HasInHand)
                continue;
            WorkloadMember dying = members[victim];
            members[victim] = new WorkloadMember(server, topic, workload, workload.Habits[victim], calls);
            await dying.DieAsync();
        }
    }

    private static long Lag(Topic topic) =>
        topic.Partitions.Sum(p =>
            p.Groups().SingleOrDefault(g => g.Name == "workers") is { } group ? group.Figures().Lag : 1
        );
}
