namespace LightQ.ClusterTests.Model;

/// <summary>An append under way.</summary>
/// <param name="Entry">What is to be stored.</param>
/// <param name="Expected">The sequence that it must follow.</param>
/// <param name="State">Where it is.</param>
/// <param name="At">Stored: its sequence.</param>
/// <param name="IsUnheard">Nobody waits for its answer any more.</param>
internal readonly record struct Append(Entry Entry, byte Expected, AppendState State, byte At, bool IsUnheard)
{
    public static Append Of(Entry entry, int expected) => new(entry, (byte)expected, AppendState.Sent, 0, false);

    /// <summary>Whether that one is this one, on its way.</summary>
    public bool IsSent(Append other) =>
        other.State is AppendState.Sent && other.Entry == Entry && other.Expected == Expected;
}
