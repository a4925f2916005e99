using LightQ.Storage.State;

namespace LightQ.Broker.Backups;

/// <summary>The position of a group in a partition.</summary>
/// <param name="Name">The group, or a name that is none of a group's.</param>
/// <param name="Partition">The partition's number.</param>
/// <param name="Offset">The next offset.</param>
/// <param name="State">What else belongs to it.</param>
internal sealed record StoredPosition(string Name, int Partition, long Offset, ReadOnlyMemory<byte> State)
{
    /// <summary>As a broker keeps it on its disk.</summary>
    public ReadOnlyMemory<byte> Encode(Guid topicId) =>
        OffsetStore.Encode(new OffsetKey(Name, topicId, Partition), Offset, State.Span);
}
