namespace LightQ.Broker.Replication;

/// <summary>One entry of a replicated stream, as it was stored.</summary>
/// <param name="Sequence">Its place in the stream; the first is 1, and each kind counts.</param>
/// <param name="Kind">What it holds.</param>
/// <param name="Payload">The bytes. They belong to the receiver.</param>
public readonly record struct StreamEntry(ulong Sequence, EntryKind Kind, ReadOnlyMemory<byte> Payload);
