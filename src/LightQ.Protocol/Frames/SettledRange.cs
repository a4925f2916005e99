namespace LightQ.Protocol.Frames;

/// <summary>One entry of a Settled: what the settlement of a range of messages came to.</summary>
/// <param name="Outcome">What it came to.</param>
/// <param name="DeliveryId">
/// The delivery that was settled: tells a late answer from one for the same messages' next delivery.
/// </param>
/// <param name="FirstOffset">The first message; 0 or above.</param>
/// <param name="Count">How many messages; 1 or above.</param>
public readonly record struct SettledRange(SettleOutcome Outcome, uint DeliveryId, long FirstOffset, uint Count)
{
    /// <summary>Bytes of an entry.</summary>
    public const int Size = 24;
}
