using System.Text.Json.Serialization;

namespace LightQ.Client;

/// <summary>Why the messages of some offsets are not delivered.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<GapReason>))]
public enum GapReason : byte
{
    /// <summary>The subscriber was too slow, and its slow policy drops messages.</summary>
    Dropped = 1,

    /// <summary>The log no longer holds them; for example, retention has removed them.</summary>
    Retention = 2,

    /// <summary>
    /// The client had read some of them, and the log no longer holds them: an unclean stop cut them off, or the topic
    /// was created anew. Other messages get their offsets, from the first one on.
    /// </summary>
    Truncated = 3,

    /// <summary>Their stored bytes fail the checksum.</summary>
    Corrupt = 4,

    /// <summary>Their time to live had passed before the consumer read them.</summary>
    Expired = 5,
}
