using LightQ.Broker;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Topics;
using LightQ.Client;

namespace LightQ.ClusterTests.Members;

/// <summary>
/// Brings letters, and loses the answer for the first of them: of a batch that was stored, or of one that arrives late,
/// at the same time as its second try.
/// </summary>
internal sealed class LosingCarrier(ILetterCarrier carrier, bool isLate) : ILetterCarrier
{
    private bool _isLosing;
    private ReadOnlyMemory<byte>? _late;

    /// <summary>How many answers were lost.</summary>
    public int Lost { get; private set; }

    /// <summary>The next answer is lost.</summary>
    public void Begin() => Volatile.Write(ref _isLosing, true);

    public async Task<(long Start, long End)> AppendAsync(
        Topic dead,
        ReadOnlyMemory<byte> batch,
        int count,
        CancellationToken cancellationToken
    )
    {
        if (Interlocked.Exchange(ref _isLosing, false))
        {
            Lost++;
            if (isLate)
                _late = batch;
            else
                await carrier.AppendAsync(dead, batch, count, cancellationToken);
            throw new BrokerException(ErrorCode.Unavailable, "The answer is lost.");
        }
        if (_late is not { } late)
            return await carrier.AppendAsync(dead, batch, count, cancellationToken);
        _late = null;
        Task<(long Start, long End)> first = carrier.AppendAsync(dead, late, count, cancellationToken);
        (long Start, long End) second = await carrier.AppendAsync(dead, batch, count, cancellationToken);
        await first;
        return second;
    }

    public Task<LetterPage> ReadAsync(Topic dead, long offset, CancellationToken cancellationToken) =>
        carrier.ReadAsync(dead, offset, cancellationToken);
}
