namespace LightQ.Client;

/// <summary>What a settlement came to.</summary>
public enum SettleOutcome : ushort
{
    /// <summary>It holds.</summary>
    Done = 0,

    /// <summary>Too late: the lock ran out, and the messages may be with another consumer by now.</summary>
    LockExpired = 1,

    /// <summary>This subscription has no such delivery, or the messages were settled before.</summary>
    Unknown = 2,
}
