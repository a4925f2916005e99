namespace LightQ.Tests.Storage.Faults;

/// <summary>What must, may and must not be in a journal after a crash at some moment.</summary>
internal sealed class JournalView
{
    public JournalPhase Phase { get; set; }

    /// <summary>
    /// Everything that was appended, by offset; what a later life of the journal put there replaces what was there.
    /// </summary>
    public List<ModelBatch> Batches { get; } = [];

    /// <summary>Offset below which everything was acknowledged as durable.</summary>
    public long Durable { get; set; }

    /// <summary>Offset below which everything was acknowledged as written.</summary>
    public long Written { get; set; }

    /// <summary>The start that was confirmed.</summary>
    public long StartAtLeast { get; set; }

    /// <summary>The furthest start that was asked for.</summary>
    public long StartAtMost { get; set; }

    /// <summary>The highest epoch of any life.</summary>
    public uint Epoch { get; set; }

    public long End => Batches.Count == 0 ? 0 : Batches[^1].NextOffset;

    public void Cut(long end)
    {
        int index = Batches.FindIndex(batch => batch.BaseOffset >= end);
        if (index >= 0)
            Batches.RemoveRange(index, Batches.Count - index);
    }
}
