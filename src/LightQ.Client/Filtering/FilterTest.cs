namespace LightQ.Client.Filtering;

/// <summary>One question about a message's headers, and which question is next.</summary>
/// <param name="Operator">What is asked.</param>
/// <param name="Name">The header's name in UTF-8.</param>
/// <param name="WellKnownId">The id that may stand for the name; 0 for none.</param>
/// <param name="Value">What is compared; empty for presence.</param>
/// <param name="OnTrue">The next test if so, or <see cref="Accept"/> or <see cref="Refuse"/>.</param>
/// <param name="OnFalse">The next test if not.</param>
internal sealed record FilterTest(
    FilterOperator Operator,
    byte[] Name,
    byte WellKnownId,
    byte[] Value,
    int OnTrue,
    int OnFalse
)
{
    public const int Accept = -1,
        Refuse = -2;

    public bool Holds(ReadOnlySpan<byte> headers)
    {
        foreach (HeaderView header in new HeaderEnumerator(headers))
        {
            bool isIt = header.WellKnownId == 0 ? header.Name.SequenceEqual(Name) : header.WellKnownId == WellKnownId;
            if (!isIt)
                continue;
            bool holds = Operator switch
            {
                FilterOperator.Equal => header.Value.SequenceEqual(Value),
                FilterOperator.Prefix => header.Value.StartsWith(Value),
                _ => true,
            };
            if (holds)
                return true;
        }
        return false;
    }
}
