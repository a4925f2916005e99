using System.Diagnostics;
using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Bench.Processes;
using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Bench.Settle;

/// <summary>
/// How many messages a second one member of a group settles, beside a member whose messages the broker settles.
/// </summary>
/// <remarks>
/// A topic is filled once; every run reads it with a group of its own and ends when the broker has taken the last
/// settlement.
/// </remarks>
internal sealed class SettleBench(BenchSettings settings, long messages, IBenchConsole console)
{
    private const string Topic = "settle";
    private const int WindowSize = 64;
    private const string Automatic = "automatic";
    private static readonly string[] Ways = ["range", "each", "shuffled"];
    private int _groups;

    /// <summary>What each way means, for the report.</summary>
    public static IReadOnlyList<string> Remarks { get; } =
    [
        "range: each batch is completed as one. each: every message by itself, in order, so that neighbours travel as "
            + "one range. "
            + "shuffled: every message by itself, out of order, so that each is a settlement of its own on the wire. "
            + "automatic: the broker settles what it has sent.",
    ];

    public async Task<IReadOnlyList<SettleResult>> RunAsync(CancellationToken cancellationToken)
    {
        await using EmbeddedBroker broker = await EmbeddedBroker.StartAsync(settings.DataDirectory, cancellationToken);
        await using var client = new LightQClient(broker.ConnectionString);
        await broker.WhileAliveAsync(FillAsync(client, cancellationToken));
        var rates = Ways.Append(Automatic).ToDictionary(way => way, _ => new List<double>());
        for (int pair = 0; pair <= settings.Pairs; pair++)
        {
            foreach ((string way, List<double> runs) in rates)
            {
                Task<double> run = MeasureAsync(client, way, cancellationToken);
                await broker.WhileAliveAsync(run);
                if (pair > 0) // The first is the warm-up.
                    runs.Add(await run);
            }
            console.Progress(string.Create(CultureInfo.InvariantCulture, $"pair {pair} of {settings.Pairs}"));
        }
        return
        [
            .. Ways.Select(way => new SettleResult
            {
                Size = settings.Sizes[0],
                Kind = settings.KindName,
                Ack = settings.AckName,
                Api = way,
                Messages = messages,
                MessagesPerSecond = Math.Round(Median.Of(rates[way])),
                Yardstick = Automatic,
                YardstickMessagesPerSecond = Math.Round(Median.Of(rates[Automatic])),
                Ratio = Math.Round(Median.Of(rates[way]) / Median.Of(rates[Automatic]), 3),
                Pairs = settings.Pairs,
                Runs = [.. rates[way].Select(r => Math.Round(r))],
                YardstickRuns = [.. rates[Automatic].Select(r => Math.Round(r))],
                BrokerPeakRssBytes = broker.Usage.PeakBytes,
            }),
        ];
    }

    private async Task FillAsync(LightQClient client, CancellationToken cancellationToken)
    {
        // Locks outlast the longest run: what is measured is settling, not losing.
        await client.Topics.CreateAsync(
            new TopicSpec(Topic) { Kind = TopicKind.Durable, LockDuration = TimeSpan.FromMinutes(10) },
            cancellationToken
        );
        await using Producer producer = await client.CreateProducerAsync(Topic, cancellationToken: cancellationToken);
        byte[] body = new byte[settings.Sizes[0]];
        for (long i = 0; i < messages; i++)
        {
            while (!producer.TryPublish(body))
                await producer.WaitForRoomAsync(cancellationToken);
        }
        await producer.FlushAsync(cancellationToken);
    }

    private async Task<double> MeasureAsync(LightQClient client, string way, CancellationToken cancellationToken)
    {
        var options = new ConsumeOptions
        {
            Group = string.Create(CultureInfo.InvariantCulture, $"run-{++_groups}"),
            Start = StartPosition.Earliest,
            SettleMode = way == Automatic ? SettleMode.Automatic : SettleMode.Explicit,
        };
        var watch = Stopwatch.StartNew();
        await (
            way is "each" or "shuffled"
                ? SettleMessagesAsync(client, options, way == "shuffled", cancellationToken)
                : SettleBatchesAsync(client, options, cancellationToken)
        );
        double rate = messages / watch.Elapsed.TotalSeconds;
        GroupInfo group = await client.Groups.GetAsync(Topic, options.Group, cancellationToken);
        if (group.Lag != 0 && way != Automatic)
        {
            throw new LightQException(
                ErrorCode.Internal,
                $"{group.Lag} of {messages} messages are not settled at the end of a run ({way})."
            );
        }

        return rate;
    }

    private async Task SettleBatchesAsync(
        LightQClient client,
        ConsumeOptions options,
        CancellationToken cancellationToken
    )
    {
        long left = messages;
        await foreach (MessageBatch batch in client.ConsumeBatchesAsync(Topic, options, cancellationToken))
        {
            left -= batch.Count;
            if (options.SettleMode == SettleMode.Explicit && left > 0)
                batch.QueueCompletion();
            if (left > 0)
                continue;
            if (options.SettleMode == SettleMode.Explicit)
                Check(await batch.CompleteAsync(cancellationToken));
            return;
        }
    }

    private async Task SettleMessagesAsync(
        LightQClient client,
        ConsumeOptions options,
        bool shuffled,
        CancellationToken cancellationToken
    )
    {
        var window = new Message[shuffled ? WindowSize : 1];
        long taken = 0;
        int filled = 0;
        await foreach (Message message in client.ConsumeAsync(Topic, options, cancellationToken))
        {
            taken++;
            window[filled++] = message; // To settle it later, not to read it.
            if (filled < window.Length && taken < messages)
                continue;
            // From the end: no message follows the one that was settled before it, so no two can travel as one range.
            for (int i = filled - 1; i > 0; i--)
                window[i].QueueCompletion();
            filled = 0;
            if (taken < messages)
            {
                window[0].QueueCompletion();
                continue;
            }
            Check(await window[0].CompleteAsync(cancellationToken));
            return;
        }
    }

    private static void Check(SettleOutcome outcome)
    {
        if (outcome != SettleOutcome.Done)
            throw new LightQException(ErrorCode.Internal, $"The last settlement of a run came to {outcome}.");
    }
}
