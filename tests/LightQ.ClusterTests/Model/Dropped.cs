namespace LightQ.ClusterTests.Model;

/// <summary>The parts of the four rules that a run of the model goes without.</summary>
[Flags]
internal enum Dropped
{
    Nothing = 0,

    /// <summary>R1: the stream stores an append wherever its end is.</summary>
    Condition = 1,

    /// <summary>
    /// R1: after a refusal, or an outcome that nobody knows, an owner sends the same batch again behind the end that
    /// the stream has now.
    /// </summary>
    Stop = 2,

    /// <summary>
    /// R1: a refused claim is sent again behind the end that the refusal told, and what lies before it is not read.
    /// </summary>
    ReplayBeforeClaim = 4,

    /// <summary>R2: an append counts as stored at whatever sequence the stream says.</summary>
    Position = 8,

    /// <summary>R2: of a claim alone.</summary>
    PositionOfClaim = 256,

    /// <summary>R2: an append is acked by its own answer, whatever became of those before it.</summary>
    Prefix = 16,

    /// <summary>R3: an entry of another epoch than the last claim's is as good.</summary>
    Epoch = 32,

    /// <summary>R3: an entry with another offset than the next one is as good.</summary>
    Offset = 64,

    /// <summary>R4: a takeover starts from the last snapshot in the stream, whoever wrote it.</summary>
    NamedSnapshot = 128,

    /// <summary>All of R2.</summary>
    R2 = Position | Prefix,

    /// <summary>All of R3.</summary>
    R3 = Epoch | Offset,
}
