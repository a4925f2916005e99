using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Administration;

/// <summary>
/// What is to be different in a message that is published again. What nothing is said of stays, apart from the delay,
/// the time to live and the id of the stored message, which the new one does not get.
/// </summary>
/// <example>
/// <code>
/// new MessageEdit { Body = fixedBody, Headers = new MessageHeaders { { "fixed-by", "alice" } } }
/// </code>
/// </example>
public sealed record MessageEdit
{
    /// <summary>The new key. The default value: the stored one, unless <see cref="RemoveKey"/> is set.</summary>
    public MessageKey Key { get; init; }

    /// <summary>Whether the new message has no key; not beside <see cref="Key"/>. The default is false.</summary>
    public bool RemoveKey { get; init; }

    /// <summary>
    /// The new body; with it a tombstone becomes an ordinary message. Null, the default: the stored one.
    /// </summary>
    public ReadOnlyMemory<byte>? Body { get; init; }

    /// <summary>
    /// New headers: the stored ones of these names are left out, and these are put behind the others. Null, the
    /// default, for none.
    /// </summary>
    public MessageHeaders? Headers { get; init; }

    /// <summary>Names of headers that are left out. The default is none.</summary>
    public IReadOnlyList<string> RemoveHeaders { get; init; } = [];

    /// <summary>Whether all stored headers are left out. The default is false.</summary>
    public bool RemoveAllHeaders { get; init; }

    /// <summary>
    /// How long from now the new message is delivered: zero (the default, at once) to 365 days; durable topics only.
    /// </summary>
    public TimeSpan Delay
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.Zero);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, ProtocolLimits.LongestDelay);
            field = value;
        }
    }

    /// <summary>How long the new message is of use, 1 ms or more. Null, the default: for ever.</summary>
    public TimeSpan? TimeToLive
    {
        get;
        init
        {
            if (value is { } time)
                ArgumentOutOfRangeException.ThrowIfLessThan(time, PublishOptions.ShortestTimeToLive, nameof(value));
            field = value;
        }
    }

    /// <summary>The new message's id, 1 to 128 bytes in UTF-8. Null, the default, for none.</summary>
    /// <exception cref="ArgumentException">The id is empty, longer, or not valid text.</exception>
    public string? MessageId
    {
        get;
        init =>
            field =
                value is null || BatchProperties.IsMessageId(value)
                    ? value
                    : throw new ArgumentException(
                        $"A message id has 1 to {ProtocolLimits.MaxMessageIdBytes} bytes in UTF-8.",
                        nameof(value)
                    );
    }
}
