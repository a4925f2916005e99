namespace LightQ.Disruptor;

/// <summary>Hands everything that was published since last time to a handler, as runs, from one thread.</summary>
/// <remarks>
/// <para>
/// From its construction on, its <see cref="Sequence"/> gates the ring. The gate is removed when the processor ends for
/// any reason, so a processor that has ended never holds back producers.
/// </para>
/// <para>
/// An exception from the handler ends the processor: it is kept in <see cref="Failure"/>, the run that caused it is not
/// delivered again, and <see cref="Sequence"/> stays before that run.
/// </para>
/// </remarks>
/// <typeparam name="THandler">The handler; a struct avoids interface dispatch.</typeparam>
public sealed class BatchEventProcessor<THandler> : IDisposable
    where THandler : IRunHandler
{
    private const int Running = 1;
    private const int Ended = 2;

    private readonly ByteRing _ring;
    private readonly SequenceBarrier _barrier;
    private readonly BatchEventProcessorOptions _options;
    private readonly ManualResetEventSlim _ended = new();
    private readonly THandler _handler;
    private int _state;
    private volatile bool _drain;

    /// <summary>Creates a processor, which gates the ring from here on.</summary>
    /// <param name="ring">The ring to read.</param>
    /// <param name="handler">Handles the entries.</param>
    /// <param name="options">How to start, read and stop.</param>
    /// <param name="before">Sequences of consumers that must be done with an entry first.</param>
    /// <exception cref="InvalidOperationException">
    /// The memory is shared between processes and all its shared gates are taken.
    /// </exception>
    public BatchEventProcessor(
        ByteRing ring,
        THandler handler,
        BatchEventProcessorOptions? options = null,
        params Sequence[] before
    )
    {
        ArgumentNullException.ThrowIfNull(ring);
        ArgumentNullException.ThrowIfNull(handler);
        _ring = ring;
        _handler = handler;
        _options = options ?? new BatchEventProcessorOptions();
        _barrier = new SequenceBarrier(ring, before);
        long from = _options.From ?? ring.Published;
        Sequence = ring.TryAddSharedGate(from, out Sequence? gate)
            ? gate
            : throw new InvalidOperationException("All shared gates of the ring are taken.");
    }

    /// <summary>
    /// The position up to which the handler is done; gates the ring and may hold back further consumers.
    /// </summary>
    public Sequence Sequence { get; }

    /// <summary>The exception that ended the processor, or null.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>True once the processor has ended; <see cref="Failure"/> is then final.</summary>
    public bool HasEnded => Volatile.Read(ref _state) == Ended;

    /// <summary>Runs on a background thread of its own.</summary>
    /// <exception cref="InvalidOperationException">Started or run before.</exception>
    public void Start()
    {
        Claim();
        new Thread(Loop) { IsBackground = true, Name = _options.ThreadName }.Start();
    }

    /// <summary>Runs on the caller's thread until halted or failed.</summary>
    /// <exception cref="InvalidOperationException">Started or run before.</exception>
    public void Run()
    {
        Claim();
        Loop();
    }

    /// <summary>
    /// Asks the processor to end; does not wait. Thread-safe. A processor that was never run ends at once.
    /// </summary>
    /// <param name="drain">
    /// True to handle what is published by now first; false to stop after the run in progress.
    /// </param>
    public void Halt(bool drain = false)
    {
        _drain = drain;
        _barrier.Alert();
        if (Interlocked.CompareExchange(ref _state, Ended, 0) == 0)
        {
            End();
        }
    }

    /// <summary>Blocks until the processor has ended.</summary>
    /// <param name="timeout">The longest to wait; <see cref="Timeout.InfiniteTimeSpan"/> for ever.</param>
    /// <returns>False if the processor has not ended in time.</returns>
    public bool Join(TimeSpan timeout) => _ended.Wait(timeout);

    /// <summary>Halts without draining and waits for the end. Not to be called from the handler.</summary>
    public void Dispose()
    {
        Halt();
        _ended.Wait();
    }

    private void Claim()
    {
        if (Interlocked.CompareExchange(ref _state, Running, 0) != 0)
        {
            throw new InvalidOperationException("A processor runs once.");
        }
    }

    private void Loop()
    {
        try
        {
            long position = Sequence.Value;
            THandler handler = _handler; // A local, so that a struct handler keeps its state from run to run.
            while (!_barrier.IsAlerted)
            {
                if (_barrier.WaitFor(position, out long available))
                {
                    position = HandleUpTo(ref handler, available, position);
                }
            }

            if (_drain)
            {
                HandleUpTo(ref handler, _barrier.Available, position, drain: true);
            }
        }
        // Whatever the handler throws is kept for the owner; letting it go would end the process.
#pragma warning disable CA1031
        catch (Exception failure)
#pragma warning restore CA1031
        {
            Failure = failure;
        }

        Volatile.Write(ref _state, Ended);
        End();
    }

    private long HandleUpTo(ref THandler handler, long available, long position, bool drain = false)
    {
        while (position < available && (drain || !_barrier.IsAlerted))
        {
            if (_ring.TryGetRun(position, available, _options.MaxRunBytes, out RingRun run))
            {
                handler.OnRun(run);
            }
            else if (run.NextPosition == position)
            {
                throw new InvalidDataException($"The ring's memory is damaged at position {position}.");
            }

            position = run.NextPosition;
            Sequence.Value = position;
        }

        return position;
    }

    private void End()
    {
        _ring.RemoveGate(Sequence);
        _ended.Set();
    }
}
