namespace LightQ.Broker;

/// <summary>A request for a partition that another node leads, or none at the moment.</summary>
public sealed class NotLeaderException : BrokerException
{
    /// <summary>Makes the exception.</summary>
    /// <param name="message">What was asked for, for people.</param>
    /// <param name="epoch">The newest epoch of the partition that is known; 0 for none.</param>
    /// <param name="address"><c>host:port</c> of the leader's data plane; empty where that is not known.</param>
    public NotLeaderException(string message, uint epoch, string address)
        : base(ErrorCode.NotLeader, message) => (Epoch, Address) = (epoch, address);

    /// <summary>The newest epoch of the partition that is known; 0 for none.</summary>
    public uint Epoch { get; }

    /// <summary><c>host:port</c> of the leader's data plane; empty where that is not known.</summary>
    public string Address { get; }
}
