using LightQ.Broker.Replication;

namespace LightQ.Broker.Catalog;

/// <summary>
/// An entry that this node has sent, or is about to, and that is to be stored at one sequence or not at all.
/// </summary>
/// <param name="Entry">The entry.</param>
/// <param name="Sequence">The sequence.</param>
/// <param name="Applied">Called when it is applied, before any other is.</param>
internal sealed record SentEntry(CatalogEntry Entry, ulong Sequence, Action? Applied)
{
    private readonly TaskCompletionSource<bool> _outcome = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>The bytes.</summary>
    public byte[] Payload { get; } = Entry.Write();

    /// <summary>How the stream knows it.</summary>
    public EntryKind Kind => Entry.Copy is null ? EntryKind.Data : EntryKind.Snapshot;

    /// <summary>Whether one of its appends had no answer.</summary>
    public bool IsInDoubt { get; set; }

    /// <summary>
    /// Completes when it is known whether it is stored: what is stored at its sequence has been read.
    /// </summary>
    public Task<bool> Outcome => _outcome.Task;

    /// <summary>Says whether it is stored.</summary>
    public void Resolve(bool isStored) => _outcome.TrySetResult(isStored);
}
