namespace LightQ.Disruptor;

/// <summary>How a <see cref="BatchEventProcessor{THandler}"/> starts, reads and stops.</summary>
public sealed record BatchEventProcessorOptions
{
    private readonly int _maxRunBytes = 256 * 1024;

    /// <summary>
    /// The most bytes handed over at once; a longer entry is still handed over, alone. 256 KiB by default. Larger runs
    /// mean fewer calls but free the ring later.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">Not positive.</exception>
    public int MaxRunBytes
    {
        get => _maxRunBytes;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegativeOrZero(value);
            _maxRunBytes = value;
        }
    }

    /// <summary>
    /// Where to begin: null (the default) for what is published from now on, else the start of an entry, such as
    /// <see cref="ByteRing.Tail"/>.
    /// </summary>
    public long? From { get; init; }

    /// <summary>The name of the thread that <see cref="BatchEventProcessor{THandler}.Start"/> makes.</summary>
    public string ThreadName { get; init; } = "ring processor";
}
