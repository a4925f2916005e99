namespace LightQ.Client;

/// <summary>What a consumer says of delivered messages.</summary>
public enum SettleKind : byte
{
    /// <summary>The work is done: the messages are not redelivered.</summary>
    Complete = 1,

    /// <summary>
    /// The work is not done: the messages are redelivered to any member of the group, after the entry's delay.
    /// </summary>
    Abandon = 2,

    /// <summary>The work cannot be done: the messages are dead-lettered with the frame's reason.</summary>
    DeadLetter = 3,

    /// <summary>The work goes on: the lock of the messages begins anew.</summary>
    Renew = 4,

    /// <summary>
    /// The messages were not shown to the application: they are redelivered to any member of the group at once, and
    /// this delivery does not count. Only sent to a broker that grants <see cref="Protocol.ProtocolFeatures.Window"/>.
    /// </summary>
    Return = 5,

    /// <summary>
    /// The work begins: if the connection is lost, or the lock runs out, this delivery counts. Needs no answer.
    /// </summary>
    Begin = 6,
}
