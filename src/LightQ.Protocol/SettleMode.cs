namespace LightQ.Protocol;

/// <summary>Who says that a message is done.</summary>
public enum SettleMode : byte
{
    /// <summary>The broker, once it has sent it.</summary>
    Automatic = 0,

    /// <summary>The client, with Settle frames.</summary>
    Explicit = 1,
}
