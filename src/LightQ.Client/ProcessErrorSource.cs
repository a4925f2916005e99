namespace LightQ.Client;

/// <summary>What a <see cref="LightQProcessor"/> was doing when something failed.</summary>
public enum ProcessErrorSource
{
    /// <summary>It was receiving: its subscription has ended, and it subscribes again after a while.</summary>
    Receive = 0,

    /// <summary>It was running the handler of a message: the handler threw, and the message is abandoned.</summary>
    Handler = 1,

    /// <summary>It was completing a message or giving it back: the message is redelivered.</summary>
    Settle = 2,

    /// <summary>
    /// It pauses: its handler cannot be made, its serializer cannot read, or the handler asked for a pause. Reported
    /// once, when the pause begins, and without a message: no message is to blame.
    /// </summary>
    Pause = 3,
}
