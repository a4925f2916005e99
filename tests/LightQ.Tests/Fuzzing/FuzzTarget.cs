namespace LightQ.Tests.Fuzzing;

/// <summary>A parser under attack: what it is fed, and what it may answer.</summary>
/// <remarks>One thread at a time: a parser may keep buffers between executions.</remarks>
internal sealed class FuzzTarget
{
    /// <summary>Reads an input.</summary>
    /// <returns>
    /// Whether it was accepted. What is refused may also be an exception of <see cref="FuzzTarget.Refusals"/>; every
    /// other exception is a fault.
    /// </returns>
    public delegate bool Parser(ReadOnlySpan<byte> input);

    /// <summary>The name, as it is in the report and in the folder of found inputs.</summary>
    public required string Name { get; init; }

    /// <summary>What is read, in a few words.</summary>
    public required string What { get; init; }

    /// <summary>Reads an input.</summary>
    public required Parser Parse { get; init; }

    /// <summary>Valid inputs, which the mutations begin with.</summary>
    public required IReadOnlyList<byte[]> Seeds { get; init; }

    /// <summary>Words and numbers that mean something to the parser.</summary>
    public IReadOnlyList<byte[]> Tokens { get; init; } = [];

    /// <summary>
    /// Makes checksums right again, which half of the inputs have done: behind them lies what a hostile peer reaches.
    /// </summary>
    public Action<byte[], int>? Seal { get; init; }

    /// <summary>Called when no more inputs come.</summary>
    public Action? Close { get; init; }

    /// <summary>The exceptions that are an answer, by exact type.</summary>
    public IReadOnlySet<Type> Refusals { get; init; } = new HashSet<Type>();

    /// <summary>The longest input.</summary>
    public int MaxLength { get; init; } = 1024;

    /// <summary>Most bytes that an execution may allocate on its thread.</summary>
    public int MaxAllocation { get; init; } = 64 * 1024;

    /// <summary>How often it is fed in the gate: what takes longer is fed less often.</summary>
    public int GateExecutions { get; init; } = 50_000;
}
