namespace LightQ.Bench.InProcess;

/// <summary>What an in-process bench can be told. The defaults are those of the reference document.</summary>
internal sealed record InProcessSettings
{
    public const int UsualSize = 29,
        LongSize = 124;
    public const int UsualRuns = 7,
        LongRuns = 6;
    public const long UsualMessages = 100_000,
        LongMessages = 5_000_000;
    public const double UsualRate = 10_000,
        LongRate = 100_000;

    public required IReadOnlyList<InProcessTarget> Targets { get; init; }

    /// <summary>Bytes of a message.</summary>
    public int Size { get; init; } = UsualSize;

    public int Runs { get; init; } = UsualRuns;

    /// <summary>Messages of a run.</summary>
    public long Messages { get; init; } = UsualMessages;

    /// <summary>Messages a second.</summary>
    public double Rate { get; init; } = UsualRate;

    /// <summary>Messages before the first run, as fast as they go; they are in no figure.</summary>
    public long WarmUpMessages { get; init; } = 100_000;

    /// <summary>1: two threads of this process. 2: producer here, consumer in a child.</summary>
    public int Processes { get; init; } = 1;

    /// <summary>The CPUs of producer and consumer; null for the first two that this process may use.</summary>
    public (int Producer, int Consumer)? Cpus { get; init; }

    /// <summary>Where files are made; null for the temporary directory.</summary>
    public string? DataDirectory { get; init; }
}
