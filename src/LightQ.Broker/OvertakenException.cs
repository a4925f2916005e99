namespace LightQ.Broker;

/// <summary>
/// An opening of a named producer that another one has overtaken: it may have waited for long, and its client may be
/// gone. A client that reads this is not, and may open again with a higher number.
/// </summary>
internal sealed class OvertakenException(string name, ulong number)
    : BrokerException(
        ErrorCode.Fenced,
        $"Another producer has taken over the name '{name}' since this one asked for it."
    )
{
    /// <summary>The number of the opening that has the name.</summary>
    public ulong Number => number;
}
