using System.Buffers.Binary;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>
/// How far of a stream a journal goes: an entry that counts, and what is known behind it. Who has read everything in
/// front of it may begin to read there, if the stream has that entry.
/// </summary>
/// <param name="Sequence">The entry's sequence.</param>
/// <param name="Kind">Data or a claim: others are purged too soon.</param>
/// <param name="Epoch">The epoch of the last claim that counts, up to here.</param>
/// <param name="NextOffset">The offset of the message that comes next.</param>
/// <param name="AppendTime">When the last batch was appended, in unix microseconds.</param>
/// <param name="Checksum">Of the claim, or of the header of the entry's last batch, which has its payload's.</param>
internal readonly record struct StreamMark(
    ulong Sequence,
    EntryKind Kind,
    uint Epoch,
    long NextOffset,
    long AppendTime,
    uint Checksum
)
{
    /// <summary>The mark behind a run that ends with a batch.</summary>
    public static StreamMark Of(ulong sequence, in BatchView last) =>
        new(sequence, EntryKind.Data, last.LeaderEpoch, last.NextOffset, last.AppendTime, last.HeaderCrc);

    /// <summary>The mark behind a claim.</summary>
    /// <param name="sequence">Where it is stored.</param>
    /// <param name="claim">The claim.</param>
    /// <param name="bytes">The bytes of it, which begin with their checksum.</param>
    public static StreamMark Of(ulong sequence, in ControlEntry claim, ReadOnlySpan<byte> bytes) =>
        new(
            sequence,
            EntryKind.Claim,
            claim.Epoch,
            claim.EndOffset,
            claim.AppendTime,
            BinaryPrimitives.ReadUInt32LittleEndian(bytes)
        );

    /// <summary>Whether an entry of the stream is the one that was marked.</summary>
    public bool IsOf(in StreamEntry entry) =>
        entry.Sequence == Sequence
        && entry.Kind == Kind
        && (Kind == EntryKind.Claim ? IsClaim(entry) : Kind == EntryKind.Data && IsRun(entry));

    private bool IsClaim(in StreamEntry entry) =>
        ControlEntry.TryDecode(entry, out ControlEntry? claim)
        && Of(entry.Sequence, claim.Value, entry.Payload.Span) == this;

    private bool IsRun(in StreamEntry entry)
    {
        StreamMark found = default;
        for (ReadOnlySpan<byte> left = entry.Payload.Span; !left.IsEmpty; )
        {
            if (!BatchView.TryRead(left, out BatchView batch) || !batch.VerifyHeader())
                return false;
            found = Of(entry.Sequence, batch);
            left = left[batch.Length..];
        }
        return found == this;
    }
}
