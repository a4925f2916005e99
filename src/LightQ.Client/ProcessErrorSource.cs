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
}
