namespace LightQ.Server.Web;

/// <summary>A request of the JSON protocol; which fields it needs, its command says.</summary>
internal sealed record AdminRequest
{
    public string? Cmd { get; init; }

    /// <summary>The broker's user, for create_topic.</summary>
    public string? AdminUserId { get; init; }

    public string? AdminPassword { get; init; }

    /// <summary>queue: transient; file: durable.</summary>
    public string? BrokerType { get; init; }

    /// <summary>zmq or socket: both are the data plane.</summary>
    public string? ConnectionType { get; init; }

    public string? Topic { get; init; }

    /// <summary>What a join is for: pub; pull, one of a group; sub, all messages.</summary>
    public string? Type { get; init; }

    /// <summary>The topic's own user.</summary>
    public string? UserId { get; init; }

    public string? Password { get; init; }

    /// <summary>Without the passwords.</summary>
    public override string ToString() => $"{Cmd} {Topic}";
}
