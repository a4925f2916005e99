using System.Globalization;
using System.Threading.Channels;
using LightQ.Broker.Replication;
using NATS.Client.Core;
using NATS.Client.JetStream.Models;

namespace LightQ.Replication.Nats;

/// <summary>
/// Reads a stream in order through a consumer that one server keeps in memory while it is used: a few entries at a
/// time, as many as make some megabytes.
/// </summary>
internal sealed class StreamPull : IAsyncDisposable
{
    /// <summary>
    /// What is asked for at once. More is not faster, and 64 MiB that wait for a client are too many to a server.
    /// </summary>
    private const int BatchBytes = 8 * 1024 * 1024;

    private const int FirstBatch = 8,
        MaxBatch = 512;

    private static readonly TimeSpan Lifetime = TimeSpan.FromSeconds(30);

    private readonly JetStreamEngine _engine;
    private readonly StreamNames _names;
    private readonly string _consumer;
    private INatsSub<byte[]> _messages = null!;
    private int _batch = FirstBatch,
        _left,
        _taken;
    private long _batchBytes;
    private ulong _delivered;

    private StreamPull(JetStreamEngine engine, StreamNames names, string consumer) =>
        (_engine, _names, _consumer) = (engine, names, consumer);

    /// <summary>Makes a consumer from a sequence on; null when the servers do not answer or cannot.</summary>
    public static async ValueTask<StreamPull?> TryOpenAsync(
        JetStreamEngine engine,
        StreamNames names,
        ulong first,
        CancellationToken cancellationToken
    )
    {
        var pull = new StreamPull(engine, names, Guid.NewGuid().ToString("N"));
        var config = new ConsumerConfig(pull._consumer)
        {
            DurableName = null,
            DeliverPolicy = ConsumerConfigDeliverPolicy.ByStartSequence,
            OptStartSeq = first,
            AckPolicy = ConsumerConfigAckPolicy.None,
            ReplayPolicy = ConsumerConfigReplayPolicy.Instant,
            MemStorage = true,
            NumReplicas = 1,
            InactiveThreshold = Lifetime,
        };
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        waiting.CancelAfter(engine.Options.RequestTimeout);
        try
        {
            await engine.Api.CreateOrUpdateConsumerAsync(names.Stream, config, waiting.Token).ConfigureAwait(false);
            pull._messages = await engine
                .Requests.SubscribeCoreAsync(
                    engine.Api.NewBaseInbox(),
                    serializer: NatsRawSerializer<byte[]>.Default,
                    opts: new NatsSubOpts
                    {
                        // Room for all that is asked for: nothing is dropped, and the connection never waits.
                        ChannelOpts = new NatsSubChannelOpts
                        {
                            Capacity = MaxBatch + 8,
                            FullMode = BoundedChannelFullMode.Wait,
                        },
                    },
                    cancellationToken: waiting.Token
                )
                .ConfigureAwait(false);
            return pull;
        }
        catch (Exception e) when (EngineFailure.IsOfEngine(e) && !cancellationToken.IsCancellationRequested)
        {
            return null;
        }
    }

    /// <summary>The next entry; null when the server has no more, or the consumer is lost.</summary>
    public async ValueTask<StreamEntry?> TryNextAsync(CancellationToken cancellationToken)
    {
        try
        {
            while (true)
            {
                if (_left == 0)
                    await AskAsync(cancellationToken).ConfigureAwait(false);
                if (!_messages.Msgs.TryRead(out NatsMsg<byte[]> message))
                {
                    message = await _messages
                        .Msgs.ReadAsync(cancellationToken)
                        .AsTask()
                        .WaitAsync(_engine.Options.RequestTimeout, cancellationToken)
                        .ConfigureAwait(false);
                }

                if (message.Headers is { Code: not 0 } || message.ReplyTo is null)
                {
                    // The end of what was there when it was asked for; more may have come since.
                    bool some = _taken != 0;
                    _left = 0;
                    if (some)
                        continue;
                    return null;
                }

                message.EnsureSuccess();
                (ulong sequence, ulong delivered) = ReadPlace(message.ReplyTo);
                // A message that was lost on its way: everything behind it is out of order.
                if (delivered != ++_delivered)
                    return null;
                (_left, _taken) = (_left - 1, _taken + 1);
                _batchBytes += message.Data?.Length ?? 0;
                return new StreamEntry(sequence, _names.Kind(message.Subject), message.Data ?? []);
            }
        }
        catch (Exception e)
            when ((EngineFailure.IsOfEngine(e) || e is ChannelClosedException)
                && !cancellationToken.IsCancellationRequested
            )
        {
            return null;
        }
    }

    public async ValueTask DisposeAsync()
    {
        try
        {
            await _messages.DisposeAsync().ConfigureAwait(false);
            // Nobody waits for the answer: unused, it goes by itself.
            await _engine
                .Requests.PublishAsync(
                    $"{_engine.Api.Opts.Prefix}.CONSUMER.DELETE.{_names.Stream}.{_consumer}",
                    replyTo: _engine.Api.NewBaseInbox()
                )
                .ConfigureAwait(false);
        }
        catch (Exception e) when (EngineFailure.IsOfEngine(e))
        {
            // As above.
        }
    }

    private async ValueTask AskAsync(CancellationToken cancellationToken)
    {
        if (_taken != 0)
            _batch = (int)Math.Clamp(BatchBytes / Math.Max(_batchBytes / _taken, 1), 1, MaxBatch);
        (_left, _taken, _batchBytes) = (_batch, 0, 0);
        await _engine
            .Requests.PublishAsync(
                $"{_engine.Api.Opts.Prefix}.CONSUMER.MSG.NEXT.{_names.Stream}.{_consumer}",
                $$"""{"batch":{{_batch}},"no_wait":true}""",
                replyTo: _messages.Subject,
                serializer: NatsUtf8PrimitivesSerializer<string>.Default,
                cancellationToken: cancellationToken
            )
            .ConfigureAwait(false);
    }

    /// <summary>
    /// Reads <c>$JS.ACK.STREAM.CONSUMER.TIMES.SEQUENCE.DELIVERED.TIME.PENDING</c>, which newer servers begin with a
    /// domain and an account behind <c>ACK</c>.
    /// </summary>
    private static (ulong Sequence, ulong Delivered) ReadPlace(string reply)
    {
        string[] tokens = reply.Split('.');
        int place = tokens.Length == 9 ? 5 : 7;
        return
            tokens.Length >= 9
            && ulong.TryParse(tokens[place], CultureInfo.InvariantCulture, out ulong sequence)
            && ulong.TryParse(tokens[place + 1], CultureInfo.InvariantCulture, out ulong delivered)
            ? (sequence, delivered)
            : throw new NatsException($"a message with the reply '{reply}'");
    }
}
