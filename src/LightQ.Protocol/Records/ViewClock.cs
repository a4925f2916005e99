namespace LightQ.Protocol.Records;

/// <summary>Ends views of memory that is used again: each is good until the next one begins.</summary>
/// <remarks>One thread begins and ends. A number and not a flag for each view: a view costs no object.</remarks>
internal sealed class ViewClock
{
    /// <summary>Counts the views that have ended.</summary>
    public long Now { get; private set; }

    /// <summary>The life of a view that begins now.</summary>
    public ViewLife Begin() => new(this, Now);

    /// <summary>All views that have begun are over.</summary>
    public void EndAll() => Now++;
}
