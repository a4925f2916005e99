namespace LightQ.Client;

/// <summary>What a <see cref="LightQProcessor"/> was doing when something failed.</summary>
public enum ProcessErrorSource
{
    /// <summary>Receiving: its subscription has ended, and it subscribes again after a while.</summary>
    Receive = 0,

    /// <summary>The handler of a message: it threw, and the message was given back.</summary>
    Handler = 1,

    /// <summary>Completing a message or giving it back: the message comes again.</summary>
    Settle = 2,
}
