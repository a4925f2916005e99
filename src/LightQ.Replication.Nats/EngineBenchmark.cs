using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using LightQ.Broker.Replication;
using NATS.Client.Core;
using NATS.Client.JetStream;

namespace LightQ.Replication.Nats;

/// <summary>
/// Measures the engine without a broker: what its streams store when someone appends as a broker does, in a pipeline,
/// or single messages through the client's own call. The streams are deleted again.
/// </summary>
public sealed class EngineBenchmark : IAsyncDisposable
{
    private const string ExpectedLastSequence = "Nats-Expected-Last-Sequence";

    private static readonly TimeSpan LongestAnswer = TimeSpan.FromSeconds(10);
    private static readonly NatsJsonContextSerializer<PublishAck> Acks = new(JetStreamMessages.Default);

    private readonly JetStreamEngine _engine;

    private EngineBenchmark(JetStreamEngine engine) => _engine = engine;

    /// <summary>The server's name and version.</summary>
    public string Description => _engine.Description;

    /// <summary>Connects to the servers. Answers may take long: a busy machine is measured, and not refused.</summary>
    /// <exception cref="ReplicationException">None answers.</exception>
    public static async Task<EngineBenchmark> ConnectAsync(
        NatsEngineOptions options,
        CancellationToken cancellationToken
    ) =>
        new(
            await JetStreamEngine
                .ConnectAsync(
                    options with
                    {
                        AppendTimeout = LongestAnswer,
                        RequestTimeout = LongestAnswer,
                        ChangeTimeout = LongestAnswer * 2,
                    },
                    cancellationToken
                )
                .ConfigureAwait(false)
        );

    /// <summary>Appends one entry at a time to each of some streams, as brokers do.</summary>
    /// <exception cref="ReplicationException">An append was not stored.</exception>
    public Task<EngineRate> OneAtATimeAsync(
        int streams,
        int replicas,
        int bytes,
        TimeSpan duration,
        CancellationToken cancellationToken
    ) =>
        MeasureAsync(
            streams,
            replicas,
            bytes,
            async (stream, times) =>
            {
                byte[] payload = Payload(bytes);
                for (long began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began) < duration; )
                {
                    long sent = Stopwatch.GetTimestamp();
                    EntryAppend append = await stream
                        .AppendAsync(EntryKind.Data, payload, (ulong)times.Count, cancellationToken)
                        .ConfigureAwait(false);
                    if (append.Outcome != AppendOutcome.Stored)
                        throw new ReplicationException($"Append to {stream.Name}: {append.Reason}");
                    times.Add(sent);
                }
            },
            cancellationToken
        );

    /// <summary>
    /// Appends to each of some streams with several under way, each expecting the one before it to be stored.
    /// </summary>
    /// <exception cref="ReplicationException">An append was not stored.</exception>
    public Task<EngineRate> PipelinedAsync(
        int streams,
        int replicas,
        int bytes,
        int window,
        TimeSpan duration,
        CancellationToken cancellationToken
    ) =>
        MeasureAsync(
            streams,
            replicas,
            bytes,
            (stream, times) =>
                PipelineAsync((JetStreamStream)stream, times, bytes, window, duration, cancellationToken),
            cancellationToken
        );

    /// <summary>Publishes messages with the client's own call, so many at a time to each of some streams.</summary>
    /// <exception cref="ReplicationException">A message was not stored.</exception>
    public Task<EngineRate> MessagesAsync(
        int streams,
        int replicas,
        int bytes,
        int window,
        TimeSpan duration,
        CancellationToken cancellationToken
    )
    {
        var context = new NatsJSContext(_engine.Appends);
        return MeasureAsync(
            streams,
            replicas,
            bytes,
            async (stream, times) =>
            {
                string subject = ((JetStreamStream)stream).Names.Subject(EntryKind.Data);
                byte[] payload = Payload(bytes);
                long began = Stopwatch.GetTimestamp();
                await Task.WhenAll(Enumerable.Range(0, window).Select(_ => PublishAsync())).ConfigureAwait(false);

                async Task PublishAsync()
                {
                    while (Stopwatch.GetElapsedTime(began) < duration)
                    {
                        long sent = Stopwatch.GetTimestamp();
                        NATS.Client.JetStream.Models.PubAckResponse ack = await context
                            .PublishAsync(
                                subject,
                                payload,
                                NatsRawSerializer<byte[]>.Default,
                                cancellationToken: cancellationToken
                            )
                            .ConfigureAwait(false);
                        if (ack.Error is { } error)
                            throw new ReplicationException($"Publish to {stream.Name}: {error.Description}");
                        lock (times)
                            times.Add(sent);
                    }
                }
            },
            cancellationToken
        );
    }

    /// <summary>How many entries all streams have got so far whose names begin with a prefix.</summary>
    /// <exception cref="ReplicationException">The servers do not answer.</exception>
    public async Task<ulong> CountEntriesAsync(string prefix, CancellationToken cancellationToken)
    {
        ulong entries = 0;
        await foreach (string name in _engine.ListStreamsAsync(prefix, cancellationToken).ConfigureAwait(false))
            entries += (await _engine.GetStream(name).GetBoundsAsync(cancellationToken).ConfigureAwait(false)).Last;
        return entries;
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _engine.DisposeAsync();

    private static byte[] Payload(int bytes)
    {
        byte[] payload = new byte[bytes];
        Random.Shared.NextBytes(payload);
        return payload;
    }

    private async Task<EngineRate> MeasureAsync(
        int streams,
        int replicas,
        int bytes,
        Func<IReplicatedStream, AppendTimes, Task> run,
        CancellationToken cancellationToken
    )
    {
        string prefix = $"LQ_bench_{Guid.NewGuid():N}_";
        string[] names =
        [
            .. Enumerable.Range(0, streams).Select(i => prefix + i.ToString(CultureInfo.InvariantCulture)),
        ];
        try
        {
            List<IReplicatedStream> made = [];
            foreach (string name in names)
            {
                made.Add(await _engine.CreateStreamAsync(name, replicas, cancellationToken).ConfigureAwait(false));
            }
            AppendTimes[] times = [.. made.Select(_ => new AppendTimes())];
            long began = Stopwatch.GetTimestamp();
            await Task.WhenAll(made.Zip(times, (stream, part) => Task.Run(() => run(stream, part), cancellationToken)))
                .ConfigureAwait(false);
            return AppendTimes.Rate(times, bytes, Stopwatch.GetElapsedTime(began));
        }
        catch (Exception e) when (EngineFailure.IsOfEngine(e) && !cancellationToken.IsCancellationRequested)
        {
            throw new ReplicationException($"Measure {_engine.Description}: {EngineFailure.Describe(e)}", e);
        }
        finally
        {
            foreach (string name in names)
                await _engine.DeleteStreamAsync(name, CancellationToken.None).ConfigureAwait(false);
        }
    }

    private async Task PipelineAsync(
        JetStreamStream stream,
        AppendTimes times,
        int bytes,
        int window,
        TimeSpan duration,
        CancellationToken cancellationToken
    )
    {
        byte[] payload = Payload(bytes);
        string subject = stream.Names.Subject(EntryKind.Data),
            // Not one of the client's own, whose answers go to its requests.
            inbox = $"lqbench.{Guid.NewGuid():N}";
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        long[] sent = new long[window];
        using var room = new SemaphoreSlim(window);
        INatsSub<PublishAck> answers = await _engine
            .Appends.SubscribeCoreAsync(inbox, serializer: Acks, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        await using ConfiguredAsyncDisposable closing = answers.ConfigureAwait(false);
        long stored = 0;
        Task reading = Task.Run(ReadAsync, cancellationToken);
        long count = 0;
        for (long began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began) < duration; count++)
        {
            if (reading.IsCompleted || !await room.WaitAsync(LongestAnswer, cancellationToken).ConfigureAwait(false))
                break;
            Volatile.Write(ref sent[count % window], Stopwatch.GetTimestamp());
            await _engine
                .Appends.PublishAsync(
                    subject,
                    payload,
                    new NatsHeaders(1) { { ExpectedLastSequence, count.ToString(CultureInfo.InvariantCulture) } },
                    inbox,
                    NatsRawSerializer<byte[]>.Default,
                    cancellationToken: cancellationToken
                )
                .ConfigureAwait(false);
        }
        Volatile.Write(ref stored, count);
        enough.CancelAfter(LongestAnswer);
        if (times.Count == count)
            await enough.CancelAsync().ConfigureAwait(false);
        await reading.ConfigureAwait(false);
        if (times.Count != count)
            throw new ReplicationException($"Append to {stream.Name}: {count - times.Count} were not answered");

        async Task ReadAsync()
        {
            try
            {
                await foreach (
                    NatsMsg<PublishAck> answer in answers.Msgs.ReadAllAsync(enough.Token).ConfigureAwait(false)
                )
                {
                    if (answer.Data is not { Error: null } ack || ack.Sequence != (ulong)times.Count + 1)
                    {
                        throw new ReplicationException(
                            $"Append to {stream.Name}: {answer.Data?.Error?.ToString() ?? "an answer out of order"}"
                        );
                    }
                    times.Add(Volatile.Read(ref sent[times.Count % window]));
                    room.Release();
                    if (times.Count == Volatile.Read(ref stored))
                        return;
                }
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                // The last answers are there, or do not come.
            }
        }
    }
}
