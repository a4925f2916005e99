using System.Globalization;
using System.Text.Json;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// The load of a client that was written from the protocol's page alone, with attackers beside it. What a crash leaves
/// of the last write is torn.
/// </summary>
/// <param name="partitions">Of the topic.</param>
/// <param name="seed">What everything random in the client follows from.</param>
internal sealed class OutsideLoad(int partitions, int seed) : ICrashLoad
{
    /// <summary>The figure that shows that crashes hit writes that are under way.</summary>
    public const string Control = "torn writes";

    private const string Topic = "judged",
        Bait = "bait";
    private const int LeastAcknowledged = 2_000;

    // One alone shows what it does: LIGHTQ_ATTACKS=crc.
    private static readonly string Attacks =
        Environment.GetEnvironmentVariable("LIGHTQ_ATTACKS") ?? "crc,ids,headers,delayed,compressed,letters";

    private readonly SortedDictionary<string, long> _counts = new(StringComparer.Ordinal);
    private readonly List<string> _violations = [];
    private TaskCompletionSource _underWay = new();
    private JsonElement? _verdict;
    private OutsideJudge? _judge;
    private LightQClient? _client;
    private string _journals = "";

    /// <inheritdoc/>
    public IEnumerable<string> Violations =>
        _violations.Concat(_verdict is { } verdict ? Strings(verdict.GetProperty("violations")) : []);

    /// <inheritdoc/>
    public Task UnderWay => _underWay.Task;

    /// <inheritdoc/>
    public async Task BeginAsync(FaultBroker broker)
    {
        _client = broker.Connect();
        var small = new TopicSpec(Topic)
        {
            Kind = TopicKind.Durable,
            MaxMessageBytes = 16 * 1024,
            SegmentBytes = 512 * 1024,
        };
        await _client.Topics.CreateAsync(small with { Partitions = partitions });
        await _client.Topics.CreateAsync(small with { Name = Bait, DeadLetterTopic = Topic });
        _journals = Path.Combine(broker.Directory, "topics", (await _client.Topics.GetAsync(Topic)).Id);
        _judge = new OutsideJudge(broker.DataPort, Topic, Bait, partitions, seed, Attacks);
    }

    /// <inheritdoc/>
    public async Task RunAsync(Random random, CancellationToken stop)
    {
        _underWay = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        try
        {
            await _judge!.TellAsync("load");
            JsonElement said = await _judge.HearAsync();
            bool isLoaded = said.GetProperty("event").GetString() == "loaded";
            _underWay.TrySetResult();
            if (isLoaded)
                said = await _judge.HearAsync();
            CheckLoad(said);
            await StoppedAsync(stop); // Nobody writes to the files any more.
            for (int partition = 0; partition < partitions; partition++)
                Tear(partition, said.GetProperty("ends")[partition].GetInt64(), random);
        }
        finally
        {
            _underWay.TrySetResult();
        }
    }

    /// <inheritdoc/>
    public async Task VerifyAsync()
    {
        foreach (string topic in new[] { Topic, Bait })
        {
            TopicInfo info = await _client!.Topics.GetAsync(topic);
            if (info.Failure.Length != 0)
                Violate("refused topics", $"{topic} was not recovered: {info.Failure}");
        }
        await HearVerdictAsync("judge");
    }

    /// <inheritdoc/>
    public Task VerifyAllAsync() => HearVerdictAsync("end");

    /// <inheritdoc/>
    public void AddTo(FaultRun run)
    {
        foreach ((string figure, long count) in _counts)
            run.Count(figure, count);
        if (_verdict is not { } verdict)
            return;
        foreach (
            (string name, string figure) in new[]
            {
                ("acknowledged", "acknowledged"),
                ("resent", "sent again"),
                ("read", "read back"),
                ("letters", "dead letters"),
                ("delivered", "delayed and delivered"),
            }
        )
        {
            run.Count(figure, verdict.GetProperty(name).GetInt64());
        }

        foreach (JsonProperty broken in verdict.GetProperty("broken").EnumerateObject())
            run.Count(broken.Name == "refused" ? "refused topics" : broken.Name, broken.Value.GetInt64());
    }

    public async ValueTask DisposeAsync()
    {
        _judge?.Dispose();
        if (_client is { } client)
            await client.DisposeAsync();
    }

    /// <summary>
    /// Enough was acknowledged, and every attack was answered: a crash that nobody attacked proves nothing.
    /// </summary>
    private void CheckLoad(JsonElement ended)
    {
        long acknowledged = ended.GetProperty("acknowledged").GetInt64();
        if (acknowledged < LeastAcknowledged)
        {
            _violations.Add(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{acknowledged} messages were acknowledged before the crash, not {LeastAcknowledged}"
                )
            );
        }

        JsonElement answers = ended.GetProperty("attacks");
        foreach (string attack in Attacks.Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            long sent = 0,
                stored = 0,
                refused = 0;
            if (answers.TryGetProperty(attack, out JsonElement given))
            {
                foreach (JsonProperty answer in given.EnumerateObject())
                {
                    long count = answer.Value.GetInt64();
                    sent += answer.Name == "sent" ? count : 0;
                    stored += answer.Name == "acknowledged" ? count : 0;
                    refused += answer.Name is "sent" or "acknowledged" ? 0 : count;
                }
            }
            Count($"{attack}: batches", sent);
            Count($"{attack}: refused", refused);
            if (stored + refused == 0)
                _violations.Add($"the attack '{attack}' was never answered");
        }
    }

    private void Tear(int partition, long acknowledgedEnd, Random random)
    {
        int behind = TornTail.Tear(
            Path.Combine(_journals, partition.ToString(CultureInfo.InvariantCulture)),
            acknowledgedEnd,
            random
        );
        Count(Control, behind < 0 ? 0 : 1);
        Count("torn writes with batches behind the tear", behind <= 0 ? 0 : 1);
    }

    private async Task HearVerdictAsync(string command)
    {
        await _judge!.TellAsync(command);
        _verdict = await _judge.HearAsync();
    }

    private void Violate(string figure, string what)
    {
        Count(figure, 1);
        _violations.Add(what);
    }

    private void Count(string figure, long by) => _counts[figure] = _counts.GetValueOrDefault(figure) + by;

    private static async Task StoppedAsync(CancellationToken stop)
    {
        var stopped = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using (stop.Register(stopped.SetResult))
            await stopped.Task;
    }

    private static IEnumerable<string> Strings(JsonElement array) =>
        array.EnumerateArray().Select(text => text.GetString()!);
}
