using System.Diagnostics;
using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>The worker of <see cref="PoisonWorkerTests"/>, in a process of its own.</summary>
public sealed class PoisonWorker
{
    /// <summary>Says to which broker it goes, and how it works.</summary>
    internal const string Variable = "LIGHTQ_POISONED_WORKER";

    internal const string Topic = "jobs",
        GroupName = "workers";

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>Works until nothing is left, or the first message has killed it.</summary>
    [Fact(Explicit = true)]
    public async Task A_worker_that_the_first_message_kills()
    {
        string[]? arguments = Environment.GetEnvironmentVariable(Variable)?.Split('|');
        Assert.SkipUnless(arguments is not null, "It is a part of another test, in a process of its own.");
        await using var client = new LightQClient(arguments![0]);
        if (arguments[1] == "loop")
        {
            ConsumeOptions options = new() { Group = GroupName, SettleMode = SettleMode.Explicit };
            await foreach (Message message in client.ConsumeAsync(Topic, options, Cancel))
            {
                Work(message);
                await message.CompleteAsync(Cancel);
                if (await IsDoneAsync(client))
                    return;
            }
        }
        await using LightQProcessor processor = client.CreateProcessor(Topic, GroupName, new() { MaxConcurrency = 4 });
        processor.ProcessMessageAsync += args =>
        {
            Work(args.Message);
            return Task.CompletedTask;
        };
        await processor.StartAsync(Cancel);
        await Eventually.TrueAsync(() => IsDoneAsync(client), Patience, () => "messages are left");
    }

    private static void Work(Message message)
    {
        if (message.GetText() != "0")
            return;
        using Process self = Process.GetCurrentProcess();
        self.Kill(); // -9
        Thread.Sleep(Timeout.Infinite);
    }

    private static async Task<bool> IsDoneAsync(LightQClient client) =>
        (await client.Groups.GetAsync(Topic, GroupName, Cancel)).Lag == 0;
}
