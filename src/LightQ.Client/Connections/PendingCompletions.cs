using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>What a subscription has completed and not yet sent. Guarded by its outbox.</summary>
internal sealed class PendingCompletions(uint stream)
{
    /// <summary>The subscription.</summary>
    public uint Stream => stream;

    /// <summary>The messages; none when there is nothing.</summary>
    public SettleRange Range { get; set; }
}
