using System.Runtime.CompilerServices;

namespace LightQ.Disruptor;

/// <summary>
/// A consumer waits on it for the ring's published position and, if given, for the consumers that must come before.
/// </summary>
/// <remarks>Thread-safe. Use one barrier per consumer, so that an alert stops only that consumer.</remarks>
public sealed class SequenceBarrier
{
    private readonly ByteRing _ring;
    private readonly Sequence[] _before;
    private volatile bool _alerted;

    /// <summary>Creates a barrier on a ring.</summary>
    /// <param name="ring">The ring, whose <see cref="ByteRing.WaitStrategy"/> is used.</param>
    /// <param name="before">
    /// Sequences of consumers that this consumer must not overtake; none to follow the producers directly. While it
    /// waits for them, the thread spins and yields. It also waits for a consumer that has ended, until alerted.
    /// </param>
    public SequenceBarrier(ByteRing ring, params Sequence[] before)
    {
        ArgumentNullException.ThrowIfNull(ring);
        ArgumentNullException.ThrowIfNull(before);
        _ring = ring;
        _before = [.. before];
    }

    /// <summary>True once <see cref="Alert"/> was called and not cleared.</summary>
    public bool IsAlerted => _alerted;

    /// <summary>The position up to which the consumer may read.</summary>
    public long Available
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _before.Length == 0 ? _ring.Published : Lowest();
    }

    /// <summary>
    /// Blocks until something after <paramref name="position"/> may be read, as the ring's wait strategy does.
    /// </summary>
    /// <param name="position">The consumer's position.</param>
    /// <param name="available">The position up to which it may read.</param>
    /// <returns>False if alerted instead; <paramref name="available"/> then still says what is available.</returns>
    public bool WaitFor(long position, out long available)
    {
        available = Available;
        if (available > position)
        {
            return true;
        }

        _ring.WaitStrategy.WaitFor(position, this);
        if (_before.Length != 0)
        {
            WaitForThoseBefore(position);
        }

        available = Available;
        return available > position;
    }

    /// <summary>
    /// As <see cref="WaitFor(long, out long)"/>, until cancelled; a cancellation leaves the barrier alerted.
    /// </summary>
    /// <param name="position">The consumer's position.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <returns>The position up to which it may read; <paramref name="position"/> or less if alerted.</returns>
    /// <exception cref="OperationCanceledException">Cancelled before anything could be read.</exception>
    public long WaitFor(long position, CancellationToken cancellation)
    {
        if (Available > position)
        {
            return Available;
        }

        cancellation.ThrowIfCancellationRequested();
        using (cancellation.UnsafeRegister(static barrier => ((SequenceBarrier)barrier!).Alert(), this))
        {
            if (!WaitFor(position, out long available))
            {
                cancellation.ThrowIfCancellationRequested();
            }

            return available;
        }
    }

    /// <summary>Ends the current wait and all later ones, until <see cref="ClearAlert"/>.</summary>
    public void Alert()
    {
        _alerted = true;
        _ring.WaitStrategy.SignalAll();
    }

    /// <summary>Lets the consumer wait again.</summary>
    public void ClearAlert() => _alerted = false;

    /// <summary>What wait strategies wait for.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool IsReady(long position) => _ring.Published > position || _alerted;

    private void WaitForThoseBefore(long position)
    {
        var spin = default(SpinWait);
        while (Lowest() <= position && !_alerted)
        {
            spin.SpinOnce(sleep1Threshold: -1);
        }
    }

    private long Lowest()
    {
        long lowest = long.MaxValue;
        foreach (Sequence sequence in _before)
        {
            lowest = Math.Min(lowest, sequence.Value);
        }

        return lowest;
    }
}
