namespace LightQ.IntegrationTests.Faults;

/// <summary>What a <see cref="CallFlood"/> consists of.</summary>
internal enum FloodKind
{
    /// <summary>Calls that are refused: about a topic that is not there.</summary>
    Failing,

    /// <summary>Calls that are answered.</summary>
    Small,

    /// <summary>Calls that are reset at once.</summary>
    Reset,

    /// <summary>No calls: pings of HTTP/2.</summary>
    Pings,
}
