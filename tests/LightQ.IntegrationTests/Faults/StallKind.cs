namespace LightQ.IntegrationTests.Faults;

/// <summary>How a subscriber stops.</summary>
public enum StallKind
{
    /// <summary>It reads its socket and grants no more credit, as an application does that stops enumerating.</summary>
    Granting,

    /// <summary>It has all the credit there is and leaves its socket unread, as a process does that hangs.</summary>
    Reading,
}
