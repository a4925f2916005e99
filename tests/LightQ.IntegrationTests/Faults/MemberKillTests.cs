using System.Diagnostics;
using System.Globalization;
using System.Text;
using LightQ.Broker.Groups;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// G1: members of a group are killed at any moment, so now and then between the processing of a message and its
/// settlement.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "G1")]
[Trait("Tier", "C")]
public sealed class MemberKillTests
{
    private const int MembersAtOnce = 3;
    private const string Topic = "jobs",
        GroupName = "workers";
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    [Fact]
    [Trait("Plain", "no")]
    public async Task Every_message_is_processed_and_by_two_members_only_when_the_first_was_killed()
    {
        var run = new FaultRun(
            "G1",
            "members of a group, a process each, are killed (-9) while they process and settle"
        );
        FaultRun.RequireTier("Each member is a process.");
        int kills = FaultRun.Times(c: 20, n: 1_000);
        Random random = run.RandomFor(0);
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        // No lock may run out in this row: a message moves because its member died, or not at all.
        await client.Topics.CreateAsync(
            new TopicSpec(Topic) { Kind = TopicKind.Durable, LockDuration = TimeSpan.FromMinutes(30) },
            TestContext.Current.CancellationToken
        );
        using var publishing = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        Task<long> published = PublishAsync(client, publishing.Token);

        List<Member> all = [.. Enumerable.Range(0, MembersAtOnce).Select(_ => new Member(server.ConnectionString))];
        var living = new List<Member>(all);
        for (int i = 0; i < kills; i++)
        {
            Member victim = living[random.Next(living.Count)];
            await Eventually.TrueAsync(
                () => victim.Processed.Count > 0,
                Patience,
                () => $"{victim}; {GroupOf(server).Figures()}; seed {run.Seed}"
            );
            await Task.Delay(random.Next(50), TestContext.Current.CancellationToken);
            await victim.KillAsync();
            living.Remove(victim);
            living.Add(new Member(server.ConnectionString));
            all.Add(living[^1]);
        }
        await publishing.CancelAsync();
        long count = await published;
        Group group = GroupOf(server);
        await Eventually.TrueAsync(
            () => group.Figures().Lag == 0,
            Patience,
            () => $"{group.Figures()}; seed {run.Seed}"
        );
        foreach (Member member in living)
            await member.StopAsync();

        var holders = all.SelectMany(m => m.Processed.Distinct().Select(number => (number, m)))
            .GroupBy(p => p.number, p => p.m)
            .ToDictionary(g => g.Key, g => g.ToList());
        run.Figure("killed", kills);
        run.Figure("published", count);
        run.Figure("processed again after a kill", holders.Values.Count(h => h.Count > 1));
        run.Figure("lost", count - holders.Count);
        long shared = holders.Values.Count(h => h.Count(m => !m.WasKilled) > 1);
        run.Figure("shared by two living members", shared);
        run.Report();
        Assert.True(
            holders.Count == count && holders.Keys.All(n => n < count),
            $"{count} published, {holders.Count} processed; seed {run.Seed}"
        );
        Assert.True(shared == 0, $"{shared} messages were given to two living members; seed {run.Seed}");
        Assert.All(all, m => Assert.Equal(m.Processed.Distinct(), m.Processed));
    }

    private static Group GroupOf(TestServer server) =>
        server.Broker.GetTopic(Topic).Partitions[0].Groups().Single(g => g.Name == GroupName);

    private static async Task<long> PublishAsync(LightQClient client, CancellationToken until)
    {
        await using Producer producer = await client.CreateProducerAsync(
            Topic,
            cancellationToken: CancellationToken.None
        );
        long count = 0;
        for (; !until.IsCancellationRequested; count++)
        {
            await producer.PublishAsync(
                Encoding.ASCII.GetBytes(count.ToString(CultureInfo.InvariantCulture)),
                cancellationToken: CancellationToken.None
            );
        }

        return count;
    }

    /// <summary><c>lightq sub</c>, which completes a message once it has written it.</summary>
    private sealed class Member
    {
        private readonly Process _process;
        private readonly Task _reading;
        private readonly List<long> _processed = [];
        private readonly StringBuilder _errors = new();

        public Member(string server)
        {
            _process = LightQTool.Start(
                server,
                "sub",
                Topic,
                "--group",
                GroupName,
                "--max-in-flight",
                "4",
                "--format",
                "raw"
            );
            _reading = ReadAsync();
            _process.ErrorDataReceived += (_, line) => OnError(line.Data);
            _process.BeginErrorReadLine();
        }

        public bool WasKilled { get; private set; }

        /// <summary>What it processed, so far.</summary>
        public IReadOnlyList<long> Processed
        {
            get
            {
                lock (_processed)
                    return [.. _processed];
            }
        }

        public Task KillAsync()
        {
            WasKilled = true;
            return StopAsync();
        }

        public async Task StopAsync()
        {
            _process.Kill();
            await _process.WaitForExitAsync(TestContext.Current.CancellationToken);
            await _reading;
            _process.Dispose();
        }

        /// <inheritdoc/>
        public override string ToString()
        {
            lock (_errors)
                return $"a member, which {(_process.HasExited ? "has ended" : "runs")}, gets nothing: {_errors}";
        }

        private void OnError(string? line)
        {
            lock (_errors)
                _errors.AppendLine(line);
        }

        private async Task ReadAsync()
        {
            while (await _process.StandardOutput.ReadLineAsync(TestContext.Current.CancellationToken) is { } line)
            {
                // Its last line may be cut off, and is then of no message that it had processed.
                if (!long.TryParse(line, NumberStyles.None, CultureInfo.InvariantCulture, out long number))
                    continue;
                lock (_processed)
                    _processed.Add(number);
            }
        }
    }
}
