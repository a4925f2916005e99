using System.Globalization;
using System.Runtime.CompilerServices;
using LightQ.Broker.Replication;
using NATS.Client.Core;
using NATS.Client.JetStream;
using NATS.Client.JetStream.Models;

namespace LightQ.Replication.Nats;

/// <summary>A replicated stream on JetStream.</summary>
internal sealed class JetStreamStream(JetStreamEngine engine, string name) : IReplicatedStream
{
    private const string ExpectedLastSequence = "Nats-Expected-Last-Sequence";

    // A server checks these before it stores anything. Every other error may come from one replica of several.
    private const int WrongLastSequence = 10071,
        WrongLastSequenceConstant = 10164,
        MessageTooLarge = 10054;

    // A limit of the account or of a server: whether a replica has stored it all the same is not known.
    private const int AccountLimit = 10002,
        NoResources = 10023,
        NoMemory = 10028,
        NoStorage = 10047,
        StoreFailed = 10077;

    private static readonly TimeSpan ReachedPoll = TimeSpan.FromMilliseconds(10);

    private static readonly NatsJsonContextSerializer<PublishAck> Acks = new(JetStreamMessages.Default);

    private readonly NatsSubOpts _ackOptions = new()
    {
        Timeout = engine.Options.AppendTimeout,
        ThrowIfNoResponders = true,
    };

    public StreamNames Names { get; } = new(name);

    public string Name => Names.Stream;

    /// <remarks>
    /// Every request of the client has a reply subject of its own, and what comes for one that is no longer waited for
    /// goes nowhere: a late answer is never taken for a later append's.
    /// </remarks>
    public async ValueTask<EntryAppend> AppendAsync(
        EntryKind kind,
        ReadOnlyMemory<byte> payload,
        ulong expectedLast,
        CancellationToken cancellationToken
    )
    {
        if (payload.Length > engine.MaxEntryBytes)
        {
            throw new ArgumentOutOfRangeException(
                nameof(payload),
                payload.Length,
                $"at most {engine.MaxEntryBytes} bytes: max_payload of the servers, less {JetStreamEngine.HeaderBytes}"
            );
        }

        string subject = Names.Subject(kind);
        var headers = new NatsHeaders(1)
        {
            { ExpectedLastSequence, expectedLast.ToString(CultureInfo.InvariantCulture) },
        };
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, engine.Connected);
        waiting.CancelAfter(engine.Options.AppendTimeout);
        try
        {
            NatsMsg<PublishAck> answer = await engine
                .Appends.RequestAsync(
                    subject,
                    payload,
                    headers,
                    NatsRawSerializer<ReadOnlyMemory<byte>>.Default,
                    Acks,
                    replyOpts: _ackOptions,
                    cancellationToken: waiting.Token
                )
                .ConfigureAwait(false);
            answer.EnsureSuccess();
            EntryAppend judged = Judge(Name, answer.Data, expectedLast);
            if (judged.Outcome != AppendOutcome.Full)
                return judged;
            string figures = await engine.FiguresAsync(cancellationToken).ConfigureAwait(false);
            return figures.Length == 0 ? judged : judged with { Reason = $"{judged.Reason}, {figures}" };
        }
        catch (Exception e) when (EngineFailure.IsOfEngine(e))
        {
            return EntryAppend.Unknown(
                cancellationToken.IsCancellationRequested ? "not waited for" : EngineFailure.Describe(e)
            );
        }
    }

    public async ValueTask<StreamBounds> GetBoundsAsync(CancellationToken cancellationToken)
    {
        INatsJSStream stream = await EngineFailure
            .Guard(
                $"Bounds of stream {Name}",
                engine.Options.RequestTimeout,
                waiting => engine.Api.GetStreamAsync(Name, cancellationToken: waiting),
                cancellationToken
            )
            .ConfigureAwait(false);
        StreamState state = stream.Info.State;
        return new(state.Messages == 0 ? state.LastSeq + 1 : state.FirstSeq, state.LastSeq);
    }

    public async ValueTask<StreamReport> ExamineAsync(CancellationToken cancellationToken)
    {
        INatsJSStream stream;
        try
        {
            stream = await EngineFailure
                .Guard(
                    $"Look at stream {Name}",
                    engine.Options.RequestTimeout,
                    waiting => engine.Api.GetStreamAsync(Name, cancellationToken: waiting),
                    cancellationToken
                )
                .ConfigureAwait(false);
        }
        catch (ReplicationException e) when (e.IsLoss)
        {
            return new StreamReport(IsThere: false, default, Entries: 0, Altered: null);
        }
        StreamState state = stream.Info.State;
        StreamConfig found = stream.Info.Config;
        return new StreamReport(
            IsThere: true,
            new StreamBounds(state.Messages == 0 ? state.LastSeq + 1 : state.FirstSeq, state.LastSeq),
            (ulong)state.Messages,
            StreamSettings.FindDifference(StreamSettings.Create(Names, found.NumReplicas), found)
        );
    }

    public ValueTask<StreamEntry?> GetAsync(ulong sequence, CancellationToken cancellationToken) =>
        MessageQuery.AskAnyAsync(engine, Names, new(sequence), cancellationToken);

    public ValueTask<StreamEntry?> GetLastAsync(EntryKind kind, CancellationToken cancellationToken) =>
        MessageQuery.AskAnyAsync(engine, Names, new(0, Last: Names.Subject(kind)), cancellationToken);

    /// <remarks>
    /// A short-lived consumer delivers what its server has. Where it has no more, or is lost, the stream's leader says
    /// which entry comes next, if any: so a replica that is behind is not taken for the end, nor a purged end for one
    /// that is behind. The leader confirms each hole, too: a replica may have lost what the others have.
    /// </remarks>
    public async IAsyncEnumerable<StreamEntry> ReadAsync(
        ulong first,
        ulong last,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        StreamBounds bounds = await GetBoundsAsync(cancellationToken).ConfigureAwait(false);
        ulong next = Math.Max(Math.Max(first, bounds.First), 1);
        ulong end = Math.Min(last, bounds.Last);
        while (next <= end)
        {
            StreamPull? pull = await StreamPull
                .TryOpenAsync(engine, Names, next, cancellationToken)
                .ConfigureAwait(false);
            if (pull is not null)
            {
                await using ConfiguredAsyncDisposable closing = pull.ConfigureAwait(false);
                while (next <= end && await pull.TryNextAsync(cancellationToken).ConfigureAwait(false) is { } entry)
                {
                    if (
                        entry.Sequence > next
                        && await FindAsync(next, Math.Min(entry.Sequence - 1, end), cancellationToken)
                            .ConfigureAwait(false)
                            is not null
                    )
                    {
                        break;
                    }
                    next = Math.Max(next, entry.Sequence + 1);
                    if (entry.Sequence <= end)
                        yield return entry;
                }
            }

            if (next > end)
                yield break;
            StreamEntry? found = await FindAsync(next, end, cancellationToken).ConfigureAwait(false);
            if (found is null)
                yield break;
            next = found.Value.Sequence + 1;
            yield return found.Value;
        }
    }

    public ValueTask<ulong> PurgeAsync(EntryKind kind, ulong before, CancellationToken cancellationToken) =>
        EngineVersion.Compare(engine.ServerVersion, EngineVersion.FirstWithSafePurge) < 0
            ? ValueTask.FromResult(0UL)
            : PurgeOnAnyVersionAsync(kind, before, cancellationToken);

    /// <summary>Purges even where a server that starts again would remove more than that.</summary>
    internal async ValueTask<ulong> PurgeOnAnyVersionAsync(
        EntryKind kind,
        ulong before,
        CancellationToken cancellationToken
    )
    {
        // 0 would mean no limit to the servers, and 1 has nothing below it.
        if (before <= 1)
            return 0;
        StreamPurgeResponse answer = await EngineFailure
            .Guard(
                $"Purge stream {Name}",
                engine.Options.ChangeTimeout,
                waiting =>
                    engine.Api.PurgeStreamAsync(
                        Name,
                        new StreamPurgeRequest { Filter = Names.Subject(kind), Seq = before },
                        waiting
                    ),
                cancellationToken
            )
            .ConfigureAwait(false);
        return (ulong)answer.Purged;
    }

    /// <summary>The first entry from one sequence to another, as the leader has it.</summary>
    private async ValueTask<StreamEntry?> FindAsync(ulong first, ulong last, CancellationToken cancellationToken)
    {
        // Looked at first: a leader that was just elected may not have applied yet what the one before it confirmed,
        // and would take entries for purged that it is about to have.
        StreamBounds bounds = await GetBoundsAsync(cancellationToken).ConfigureAwait(false);
        if (bounds.Last < last)
        {
            throw new ReplicationException(
                $"Read stream {Name}: its leader ends at {bounds.Last} and had {last} before; it is catching up."
            );
        }

        StreamEntry? found = await MessageQuery
            .AskLeaderAsync(engine, Names, new(first, Next: Names.Any), cancellationToken)
            .ConfigureAwait(false);
        return found is { } entry && entry.Sequence <= last ? entry : null;
    }

    /// <summary>
    /// Waits until appends reach the stream. Servers tell each other what they have to hear, and until then one of
    /// them answers that nobody is there. The append that tries it cannot be stored.
    /// </summary>
    internal async ValueTask<bool> WaitUntilReachedAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            EntryAppend append = await AppendAsync(EntryKind.Claim, default, long.MaxValue, cancellationToken)
                .ConfigureAwait(false);
            if (append.Outcome == AppendOutcome.Refused)
                return true;
            await Task.Delay(ReachedPoll, cancellationToken).ConfigureAwait(false);
        }
    }

    private static bool IsOfSpace(string? description) =>
        description is not null
        && (
            description.Contains("no space", StringComparison.OrdinalIgnoreCase)
            || description.Contains("maximum bytes", StringComparison.OrdinalIgnoreCase)
            || description.Contains("insufficient", StringComparison.OrdinalIgnoreCase)
        );

    /// <summary>What an answer says of an append.</summary>
    internal static EntryAppend Judge(string name, PublishAck? ack, ulong expectedLast)
    {
        if (ack is null)
            return EntryAppend.Unknown("an empty answer");
        if (ack.Error is { } error)
        {
            string reason = $"{error}";
            if (error.ErrorCode is WrongLastSequence or WrongLastSequenceConstant or MessageTooLarge)
                return EntryAppend.Refused(reason);
            bool isFull =
                error.ErrorCode is AccountLimit or NoResources or NoMemory or NoStorage
                || (error.ErrorCode == StoreFailed && IsOfSpace(error.Description));
            return isFull ? EntryAppend.Full($"{error.Description} ({error.ErrorCode})") : EntryAppend.Unknown(reason);
        }
        return ack.Stream == name && ack.Sequence == expectedLast + 1 && !ack.Duplicate
            ? EntryAppend.Stored(ack.Sequence)
            : EntryAppend.Unknown(
                $"stored as {ack.Sequence} of {ack.Stream}{(ack.Duplicate ? " by an earlier append" : "")}, "
                    + $"where {expectedLast + 1} was expected"
            );
    }
}
