namespace LightQ.Client;

/// <summary>
/// The side that settles messages. The default, <see cref="Automatic"/>, loses messages when a member of a group dies.
/// </summary>
public enum SettleMode : byte
{
    /// <summary>
    /// The broker, once it has sent the message: it is delivered at most once. When a member of a group dies, what it
    /// had received and not worked on yet is lost for the group.
    /// </summary>
    Automatic = 0,

    /// <summary>
    /// The client, with Settle frames: on a durable topic a message is delivered at least once. When a member of a
    /// group dies, the messages it had not settled are redelivered to another member.
    /// </summary>
    Explicit = 1,
}
