namespace LightQ.Server.Connections;

/// <summary>What a port speaks.</summary>
internal interface IConnectionProtocolFactory
{
    /// <summary>Begins to speak it on a connection that was accepted.</summary>
    IConnectionProtocol Create(in ConnectionParts connection);
}
