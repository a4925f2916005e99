namespace LightQ.Protocol.Batches;

/// <summary>
/// Enumerates the batches of a run: the body of a Publish or Deliver frame, or a piece of a ring or of a segment.
/// </summary>
/// <remarks>
/// Stops at the first impossible length; <see cref="Remaining"/> is then not empty. Allocates nothing.
/// </remarks>
public ref struct BatchRun
{
    private BatchView _current;

    /// <summary>Starts at the front of <paramref name="run"/>.</summary>
    public BatchRun(ReadOnlySpan<byte> run) => Remaining = run;

    /// <summary>The bytes that have not been enumerated.</summary>
    public ReadOnlySpan<byte> Remaining { get; private set; }

    /// <summary>The current batch.</summary>
    public readonly BatchView Current => _current;

    /// <summary>Goes to the next batch.</summary>
    public bool MoveNext()
    {
        if (!BatchView.TryRead(Remaining, out _current))
            return false;
        Remaining = Remaining[_current.Length..];
        return true;
    }

    /// <summary>Returns this enumerator, for <c>foreach</c>.</summary>
    public readonly BatchRun GetEnumerator() => this;
}
