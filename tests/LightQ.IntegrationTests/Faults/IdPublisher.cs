using System.Text;
using LightQ.Client;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// Publishes messages with ids of its own, some of them again, and judges what the acks say: of an id there is one
/// place, and only who publishes it again is told of a duplicate.
/// </summary>
internal sealed class IdPublisher(string name, ProducerOptions options, List<string> violations) : IAsyncDisposable
{
    private const int Burst = 32,
        Again = 50;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly HashSet<string> _tried = [];
    private readonly List<string> _order = [];
    private readonly List<string> _open = [];
    private Producer? _producer;
    private int _next;

    /// <summary>Where the messages are that were acknowledged, by id.</summary>
    public Dictionary<string, (int Partition, long Offset)> Known { get; } = [];

    /// <summary>Acks that said so.</summary>
    public int Duplicates { get; private set; }

    /// <summary>Messages of which nobody knew at first whether they are stored.</summary>
    public int Unknown { get; private set; }

    /// <summary>Publishes until it is told to stop: new messages, and now and then old ones.</summary>
    public async Task RunAsync(LightQClient client, Random random, CancellationToken stop)
    {
        _producer ??= await client.CreateProducerAsync(
            "t",
            options with
            {
                DisposeTimeout = TimeSpan.Zero,
            },
            CancellationToken.None
        );
        while (!stop.IsCancellationRequested)
        {
            string[] ids =
            [
                .. Enumerable
                    .Range(0, random.Next(1, Burst))
                    .Select(_ =>
                        random.Next(4) == 0 && _order.Count != 0
                            ? _order[random.Next(_order.Count)]
                            : $"{name}-{_next++}"
                    )
                    .Distinct(),
            ];
            await PublishAsync(ids);
        }
    }

    /// <summary>
    /// The broker is back: what has no outcome is published again until it has, and so is what was acknowledged last.
    /// </summary>
    public async Task PublishAgainAsync(LightQClient client, CancellationToken cancellationToken)
    {
        _producer ??= await client.CreateProducerAsync(
            "t",
            options with
            {
                DisposeTimeout = TimeSpan.Zero,
            },
            cancellationToken
        );
        await PublishOpenAsync();
        await PublishAsync([.. _order.TakeLast(Again)]);
        await PublishOpenAsync();
    }

    private Task PublishOpenAsync() =>
        Eventually.TrueAsync(
            async () =>
            {
                string[] open = [.. _open];
                _open.Clear();
                await PublishAsync(open);
                return _open.Count == 0;
            },
            Patience,
            () => $"{name} does not get {_open.Count} messages to an outcome."
        );

    public async ValueTask DisposeAsync()
    {
        if (_producer is not null)
            await _producer.DisposeAsync();
    }

    private async Task PublishAsync(string[] ids)
    {
        var publishing = new List<(string Id, bool WasTried, Task<PublishAck> Ack)>();
        foreach (string id in ids)
        {
            bool wasTried = !_tried.Add(id);
            publishing.Add(
                (
                    id,
                    wasTried,
                    _producer!
                        .PublishAsync(
                            Encoding.UTF8.GetBytes(id),
                            new PublishOptions { MessageId = id },
                            cancellationToken: CancellationToken.None
                        )
                        .AsTask()
                )
            );
        }
        foreach ((string id, bool wasTried, Task<PublishAck> ack) in publishing)
        {
            try
            {
                Judge(id, wasTried, await ack);
            }
            catch (LightQException e)
                when (e.Code
                        is ErrorCode.OutcomeUnknown
                            or ErrorCode.StreamBroken
                            or ErrorCode.Unavailable
                            or ErrorCode.ShuttingDown
                )
            {
                if (!Known.ContainsKey(id))
                    _open.Add(id);
                Unknown++;
            }
        }
    }

    private void Judge(string id, bool wasTried, PublishAck ack)
    {
        if (ack.IsDuplicate)
            Duplicates++;
        string? problem = null;
        if (Known.TryGetValue(id, out (int Partition, long Offset) first))
        {
            problem =
                !ack.IsDuplicate || (ack.Partition, ack.Offset) != first
                    ? $"was stored at {first.Partition}/{first.Offset} before"
                    : null;
        }
        else if (ack.IsDuplicate && (!wasTried || ack.Offset < 0))
        {
            problem = wasTried ? "has no offset" : "was never published before";
        }
        if (problem is not null)
        {
            lock (violations)
                violations.Add($"{id}: the ack says {ack}, and it {problem}.");
        }
        if (Known.TryAdd(id, (ack.Partition, ack.Offset)))
            _order.Add(id);
    }
}
