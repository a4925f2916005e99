namespace LightQ.Protocol.Batches;

/// <summary>The producer that sends a batch.</summary>
/// <param name="ProducerId">The id that the broker gave the producer; 0 for an anonymous one.</param>
/// <param name="ProducerEpoch">The epoch that the broker gave it.</param>
/// <param name="BaseSequence">The producer's number of the batch's first record.</param>
public readonly record struct BatchOrigin(ulong ProducerId, uint ProducerEpoch, ulong BaseSequence);
