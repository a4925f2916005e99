using LightQ.Broker.Topics;

namespace LightQ.Broker.DeadLetters;

/// <summary>Brings letters to the node that leads a dead-letter topic, and has them read from there.</summary>
internal interface ILetterCarrier
{
    /// <summary>Stores a batch of letters; completes when they are safe.</summary>
    /// <returns>Where the topic begins and ends then.</returns>
    /// <exception cref="Exception">They may not be stored, or not be known to be.</exception>
    Task<(long Start, long End)> AppendAsync(
        Topic dead,
        ReadOnlyMemory<byte> batch,
        int count,
        CancellationToken cancellationToken
    );

    /// <summary>Reads letters from an offset on.</summary>
    /// <exception cref="IOException">They cannot be read now.</exception>
    Task<LetterPage> ReadAsync(Topic dead, long offset, CancellationToken cancellationToken);
}
