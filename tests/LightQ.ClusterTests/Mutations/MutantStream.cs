using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;

namespace LightQ.ClusterTests.Mutations;

/// <summary>A node's way to a stream that makes it leave out a rule of the log, whatever its own code does.</summary>
/// <param name="inner">The way.</param>
/// <param name="mutation">What is left out.</param>
/// <param name="faults">How often a request or an answer is lost.</param>
/// <param name="seed">Where random begins.</param>
internal sealed class MutantStream(IReplicatedStream inner, Mutation mutation, double faults, int seed)
    : IReplicatedStream
{
    private const int Tries = 100;

    /// <summary>How long an answer is waited for that does not come.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(30);

    private readonly Random _random = new(seed);
    private readonly BlindReader? _blind = mutation switch
    {
        Mutation.TwoUnderWay => new BlindReader(inner, seesEpoch: false, seesOffset: false),
        Mutation.NoEpochCheck => new BlindReader(inner, seesEpoch: false, seesOffset: true),
        Mutation.NoOffsetCheck => new BlindReader(inner, seesEpoch: true, seesOffset: false),
        _ => null,
    };

    // By how many entries the stream is longer than its owner believes.
    private ulong _ahead;

    public string Name => inner.Name;

    public async ValueTask<EntryAppend> AppendAsync(
        EntryKind kind,
        ReadOnlyMemory<byte> payload,
        ulong expectedLast,
        CancellationToken cancellationToken
    )
    {
        if (kind == EntryKind.Claim)
        {
            _ahead = 0;
            return await inner.AppendAsync(kind, payload, expectedLast, cancellationToken);
        }
        EntryAppend answer;
        switch (mutation)
        {
            case Mutation.NoCondition:
                answer = await AppendAtEndAsync(kind, payload, cancellationToken);
                break;
            case Mutation.TwoUnderWay or Mutation.AckByAnswerAlone when kind == EntryKind.Data:
                answer = await AppendTwoAsync(payload, expectedLast + _ahead, cancellationToken);
                break;
            default:
                answer = await AppendOverFaultsAsync(kind, payload, expectedLast + _ahead, cancellationToken);
                if (answer.Outcome == AppendOutcome.Unknown && mutation == Mutation.ResendAfterUnknown)
                    answer = await AppendAtEndAsync(kind, payload, cancellationToken);
                break;
        }
        return answer.Outcome == AppendOutcome.Stored ? EntryAppend.Stored(expectedLast + 1) : answer;
    }

    public ValueTask<StreamBounds> GetBoundsAsync(CancellationToken cancellationToken) =>
        inner.GetBoundsAsync(cancellationToken);

    public ValueTask<StreamEntry?> GetAsync(ulong sequence, CancellationToken cancellationToken) =>
        _blind?.GetAsync(sequence, cancellationToken) ?? inner.GetAsync(sequence, cancellationToken);

    public async ValueTask<StreamEntry?> GetLastAsync(EntryKind kind, CancellationToken cancellationToken)
    {
        StreamEntry? last = await inner.GetLastAsync(kind, cancellationToken);
        if (mutation != Mutation.LastSnapshot)
            return last;
        StreamEntry? snapshot = await inner.GetLastAsync(EntryKind.Snapshot, cancellationToken);
        if (kind != EntryKind.Claim || last is not { } stored || snapshot is null)
            return kind == EntryKind.Snapshot ? null : last;
        // As if the claim named it.
        Assert(ControlEntry.TryDecode(stored, out ControlEntry? claim));
        return stored with { Payload = (claim!.Value with { ConfirmedSnapshot = snapshot.Value.Sequence }).Encode() };
    }

    public IAsyncEnumerable<StreamEntry> ReadAsync(ulong first, ulong last, CancellationToken cancellationToken) =>
        _blind?.ReadAsync(first, last, cancellationToken) ?? inner.ReadAsync(first, last, cancellationToken);

    public ValueTask<ulong> PurgeAsync(EntryKind kind, ulong before, CancellationToken cancellationToken) =>
        ValueTask.FromResult(0UL); // Readers that go wrong are to read all of it.

    private static void Assert(bool condition) => Xunit.Assert.True(condition);

    /// <summary>Appends wherever the stream ends, as without a condition.</summary>
    private async ValueTask<EntryAppend> AppendAtEndAsync(
        EntryKind kind,
        ReadOnlyMemory<byte> payload,
        CancellationToken cancellationToken
    )
    {
        EntryAppend answer = EntryAppend.Unknown("not tried");
        for (int i = 0; i < Tries && answer.Outcome != AppendOutcome.Stored; i++)
        {
            StreamBounds bounds = await inner.GetBoundsAsync(cancellationToken);
            answer = await inner.AppendAsync(kind, payload, bounds.Last, cancellationToken);
        }
        return answer;
    }

    /// <summary>Cuts a run in two and has both under way; the second one's answer counts.</summary>
    private async ValueTask<EntryAppend> AppendTwoAsync(
        ReadOnlyMemory<byte> run,
        ulong expectedLast,
        CancellationToken cancellationToken
    )
    {
        Assert(BatchView.TryRead(run.Span, out BatchView batch));
        int cut = batch.Length;
        if (cut == run.Length)
            return await inner.AppendAsync(EntryKind.Data, run, expectedLast, cancellationToken);
        // The owner is late now and then, so that a claim gets in front of both.
        if (_random.Next(4) == 0)
            await Task.Delay(_random.Next(1, 20), cancellationToken);
        Task<EntryAppend> first = inner
                .AppendAsync(EntryKind.Data, run[..cut], expectedLast, cancellationToken)
                .AsTask(),
            second = inner.AppendAsync(EntryKind.Data, run[cut..], expectedLast + 1, cancellationToken).AsTask();
        await first;
        _ahead++;
        return await second;
    }

    /// <summary>Appends over a network that loses requests and answers.</summary>
    private async ValueTask<EntryAppend> AppendOverFaultsAsync(
        EntryKind kind,
        ReadOnlyMemory<byte> payload,
        ulong expectedLast,
        CancellationToken cancellationToken
    )
    {
        if (_random.NextDouble() >= faults)
            return await inner.AppendAsync(kind, payload, expectedLast, cancellationToken);
        if (_random.Next(2) == 0)
            await inner.AppendAsync(kind, payload, expectedLast, cancellationToken);
        await Task.Delay(Patience, cancellationToken);
        return EntryAppend.Unknown("no answer in time");
    }
}
