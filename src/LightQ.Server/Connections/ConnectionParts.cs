using LightQ.Server.Security;
using LightQ.Server.Transport;

namespace LightQ.Server.Connections;

/// <summary>What a protocol gets of its connection.</summary>
/// <param name="Id">Names the connection.</param>
/// <param name="Peer">Where it comes from.</param>
/// <param name="Sender">Where the bytes go.</param>
/// <param name="Blocks">Buffers.</param>
/// <param name="Events">Gets the events of the connection.</param>
internal readonly record struct ConnectionParts(
    uint Id,
    PeerChannel Peer,
    FrameSender Sender,
    DataPlaneBlocks Blocks,
    IConnectionEvents Events
);
