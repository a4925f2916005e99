using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>What a subscription has completed, or begun, and not yet sent. Guarded by its outbox.</summary>
internal sealed class PendingSettlements(uint stream, SettleKind kind = SettleKind.Complete)
{
    /// <summary>What becomes of the messages.</summary>
    public SettleKind Kind => kind;

    /// <summary>The subscription.</summary>
    public uint Stream => stream;

    /// <summary>The messages; none when there is nothing.</summary>
    public SettleRange Range { get; set; }
}
