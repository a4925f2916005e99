namespace LightQ.Broker.Replication;

/// <summary>A whole snapshot of a stream, its parts put together.</summary>
/// <param name="Sequence">The sequence of its last part.</param>
/// <param name="Epoch">The epoch of the owner that wrote it.</param>
/// <param name="EndOffset">One behind the last offset in front of it.</param>
/// <param name="AppendTime">When the last batch in front of it was appended.</param>
/// <param name="State">The partition's state.</param>
internal sealed record SavedState(ulong Sequence, uint Epoch, long EndOffset, long AppendTime, byte[] State)
{
    /// <summary>The kinds of entries that name a snapshot, the claim in front.</summary>
    private static readonly EntryKind[] Naming = [EntryKind.Claim, EntryKind.Snapshot, EntryKind.Positions];

    /// <summary>The last snapshot that surely counts (rule R4); null for none.</summary>
    /// <exception cref="ReplicationException">The engine cannot be reached, or the snapshot is damaged.</exception>
    public static ValueTask<SavedState?> FindAsync(IReplicatedStream stream, CancellationToken cancellationToken) =>
        FindAsync(stream, known: null, cancellationToken);

    /// <summary>The same; one that was read before is not read again.</summary>
    public static async ValueTask<SavedState?> FindAsync(
        IReplicatedStream stream,
        SavedState? known,
        CancellationToken cancellationToken
    )
    {
        ulong sequence = await FindSequenceAsync(stream, cancellationToken).ConfigureAwait(false);
        return sequence == 0 ? null
            : sequence == known?.Sequence ? known
            : await ReadAsync(stream, sequence, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Reads the snapshot that ends at a sequence.</summary>
    /// <exception cref="ReplicationException">There is none, it is damaged, or a part is missing.</exception>
    public static async ValueTask<SavedState> ReadAsync(
        IReplicatedStream stream,
        ulong sequence,
        CancellationToken cancellationToken
    )
    {
        ControlEntry last = await ReadPartAsync(stream, sequence, cancellationToken).ConfigureAwait(false);
        var parts = new ReadOnlyMemory<byte>[last.Part + 1];
        parts[^1] = last.Body;
        if (last.PartsLeft != 0 || last.Part >= sequence)
            throw Loss($"{stream.Name}: the snapshot {sequence} is not whole.");
        for (int i = 0; i < last.Part; i++)
        {
            ulong at = sequence - last.Part + (ulong)i;
            ControlEntry part = await ReadPartAsync(stream, at, cancellationToken).ConfigureAwait(false);
            if (part.Part != i || part.Epoch != last.Epoch || part.EndOffset != last.EndOffset)
                throw Loss($"{stream.Name}: entry {at} is no part of the snapshot {sequence}.");
            parts[i] = part.Body;
        }
        return new SavedState(sequence, last.Epoch, last.EndOffset, last.AppendTime, Join(parts));
    }

    /// <summary>Cuts a state into parts: one at least.</summary>
    public static IReadOnlyList<ReadOnlyMemory<byte>> Split(ReadOnlyMemory<byte> state, int partBytes)
    {
        List<ReadOnlyMemory<byte>> parts = [];
        do
        {
            ReadOnlyMemory<byte> part = state[..Math.Min(partBytes, state.Length)];
            parts.Add(part);
            state = state[part.Length..];
        } while (!state.IsEmpty);
        return parts;
    }

    /// <summary>Puts parts together.</summary>
    public static byte[] Join(IReadOnlyList<ReadOnlyMemory<byte>> parts)
    {
        byte[] state = new byte[parts.Sum(part => part.Length)];
        int at = 0;
        foreach (ReadOnlyMemory<byte> part in parts)
        {
            part.CopyTo(state.AsMemory(at));
            at += part.Length;
        }
        return state;
    }

    /// <summary>
    /// The last snapshot itself may be void, but what the last claim names counts, and what a later snapshot of that
    /// claim's epoch names, or later positions.
    /// </summary>
    private static async ValueTask<ulong> FindSequenceAsync(
        IReplicatedStream stream,
        CancellationToken cancellationToken
    )
    {
        Task<StreamEntry?>[] asked = [.. Naming.Select(kind => stream.GetLastAsync(kind, cancellationToken).AsTask())];
        StreamEntry?[] last = await Task.WhenAll(asked).ConfigureAwait(false);
        if (last[0] is not { } lastClaim || !ControlEntry.TryDecode(lastClaim, out ControlEntry? claim))
            return 0;
        ulong found = claim.Value.ConfirmedSnapshot;
        if (found == ControlEntry.Unfinished)
            throw Loss($"{stream.Name} was being written anew, and that has not come to its end.");
        foreach (StreamEntry? stored in last.AsSpan(1))
        {
            if (
                stored is { } entry
                && entry.Sequence > lastClaim.Sequence
                && ControlEntry.TryDecode(entry, out ControlEntry? naming)
                && naming.Value.Epoch == claim.Value.Epoch
            )
            {
                found = Math.Max(found, naming.Value.ConfirmedSnapshot);
            }
        }
        return found;
    }

    private static async ValueTask<ControlEntry> ReadPartAsync(
        IReplicatedStream stream,
        ulong sequence,
        CancellationToken cancellationToken
    )
    {
        StreamEntry stored =
            await stream.GetAsync(sequence, cancellationToken).ConfigureAwait(false)
            ?? throw Loss($"{stream.Name}: the snapshot {sequence} is missing.");
        return stored.Kind == EntryKind.Snapshot && ControlEntry.TryDecode(stored, out ControlEntry? entry)
            ? entry.Value
            : throw Loss($"{stream.Name}: entry {sequence} is no snapshot, or is damaged.");
    }

    private static ReplicationException Loss(string what) => new(what) { IsLoss = true };
}
