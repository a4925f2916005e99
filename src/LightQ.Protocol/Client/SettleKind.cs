namespace LightQ.Client;

/// <summary>What a consumer says of delivered messages.</summary>
public enum SettleKind : byte
{
    /// <summary>Done: they do not come again.</summary>
    Complete = 1,

    /// <summary>Not done: they come again, to any member of the group, after the entry's delay.</summary>
    Abandon = 2,

    /// <summary>Never to be done: they go to the dead-letter topic with the frame's reason.</summary>
    DeadLetter = 3,

    /// <summary>Still at it: their lock begins anew.</summary>
    Renew = 4,
}
