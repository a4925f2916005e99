namespace LightQ.Broker.Producers;

/// <summary>What a producer stream has to tell its client.</summary>
/// <param name="Ranges">How many ack ranges were written.</param>
/// <param name="Durability">The durability they reached.</param>
/// <param name="Credit">Bytes of the publish window given back.</param>
/// <param name="Echo">
/// What the client is to send back once it has read all this, for <see cref="ProducerStream.OnEcho"/>; 0 for nothing.
/// </param>
public readonly record struct PublishOutput(int Ranges, Durability Durability, uint Credit, uint Echo);
