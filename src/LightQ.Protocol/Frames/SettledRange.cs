namespace LightQ.Protocol.Frames;

/// <summary>One entry of a Settled: the result of settling a range of messages.</summary>
/// <param name="Outcome">The result.</param>
/// <param name="DeliveryId">
/// The delivery that was settled. It distinguishes a late answer from one for the next delivery of the same messages.
/// </param>
/// <param name="FirstOffset">The first message; 0 or above.</param>
/// <param name="Count">How many messages; 1 or above.</param>
public readonly record struct SettledRange(SettleOutcome Outcome, uint DeliveryId, long FirstOffset, uint Count)
{
    /// <summary>Bytes of an entry.</summary>
    public const int Size = 24;
}
