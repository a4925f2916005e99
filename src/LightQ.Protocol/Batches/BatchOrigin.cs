namespace LightQ.Protocol.Batches;

/// <summary>Who sends a batch.</summary>
/// <param name="ProducerId">The id the broker gave the producer; 0 for an anonymous one.</param>
/// <param name="ProducerEpoch">The epoch the broker gave it.</param>
/// <param name="BaseSequence">The producer's number of the batch's first record.</param>
public readonly record struct BatchOrigin(ulong ProducerId, uint ProducerEpoch, ulong BaseSequence);
