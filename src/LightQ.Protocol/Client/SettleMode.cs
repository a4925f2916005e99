namespace LightQ.Client;

/// <summary>
/// Who says that a message is done. The default, <see cref="Automatic"/>, loses messages when a member of a group dies.
/// </summary>
public enum SettleMode : byte
{
    /// <summary>
    /// The broker, once it has sent it: delivered at most once. When a member of a group dies, what it had received and
    /// not worked on yet is lost for the group.
    /// </summary>
    Automatic = 0,

    /// <summary>
    /// The client, with Settle frames: on a durable topic delivered at least once. When a member of a group dies, what
    /// it had not settled comes again, to another one.
    /// </summary>
    Explicit = 1,
}
