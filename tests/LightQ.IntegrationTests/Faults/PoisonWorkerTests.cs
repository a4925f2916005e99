using System.Diagnostics;
using System.Text;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// G1: the first of many messages ends its worker's process (-9), whenever it is worked on. It alone is dead-lettered.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "G1")]
public sealed class PoisonWorkerTests
{
    private const int Messages = 300,
        MaxDeliveries = 10;
    private const string Topic = PoisonWorker.Topic,
        GroupName = PoisonWorker.GroupName;
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [Trait("Tier", "C")]
    [Trait("Plain", "no")]
    [InlineData("loop")]
    [InlineData("processor")]
    public async Task Ten_kills_dead_letter_the_message_that_kills_and_no_other(string kind)
    {
        FaultRun.RequireTier("Each worker is a process.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec(Topic) { Kind = TopicKind.Durable, MaxDeliveries = MaxDeliveries },
            Cancel
        );
        await using (Producer producer = await client.CreateProducerAsync(Topic, cancellationToken: Cancel))
        {
            for (int i = 0; i < Messages; i++)
            {
                while (!producer.TryPublish(Encoding.ASCII.GetBytes($"{i}")))
                    await producer.WaitForRoomAsync(Cancel);
            }
            await producer.FlushAsync(Cancel);
        }

        int kills = 0;
        while (await WorkAsync(server.ConnectionString, kind) == 128 + 9)
            Assert.InRange(++kills, 1, MaxDeliveries);

        Assert.Equal(MaxDeliveries, kills);
        var letters = new List<DeadLetterInfo>();
        await foreach (
            DeadLetterInfo letter in client.DeadLetters.ListAsync(Topic, GroupName, cancellationToken: Cancel)
        )
        {
            letters.Add(letter);
        }

        DeadLetterInfo dead = Assert.Single(letters);
        Assert.Equal((0L, MaxDeliveries), (dead.OriginalOffset, dead.Deliveries));
        Assert.Equal(
            Messages,
            server.Broker.GetTopic(Topic).Partitions[0].Groups().Single(g => g.Name == GroupName).Committed
        );
    }

    private static async Task<int> WorkAsync(string server, string kind)
    {
        var start = new ProcessStartInfo(
            "dotnet",
            [
                typeof(PoisonWorkerTests).Assembly.Location,
                "-noColor",
                "-explicit",
                "only",
                "-method",
                $"{typeof(PoisonWorker).FullName}.{nameof(PoisonWorker.A_worker_that_the_first_message_kills)}",
            ]
        )
        {
            RedirectStandardOutput = true,
        };
        start.Environment[PoisonWorker.Variable] = $"{server}|{kind}";
        using Process worker = Process.Start(start)!;
        string said = await worker.StandardOutput.ReadToEndAsync(Cancel).WaitAsync(Patience, Cancel);
        await worker.WaitForExitAsync(Cancel);
        Assert.True(worker.ExitCode is 0 or (128 + 9), said);
        return worker.ExitCode;
    }
}
