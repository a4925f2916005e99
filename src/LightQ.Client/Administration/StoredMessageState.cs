using System.Text.Json.Serialization;

namespace LightQ.Client.Administration;

/// <summary>What consumers get of a stored message.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<StoredMessageState>))]
public enum StoredMessageState
{
    /// <summary>They get it.</summary>
    Delivered = 1,

    /// <summary>
    /// It was published with a delay: they do not get it at this offset, but with another one when it is due.
    /// </summary>
    Delayed = 2,

    /// <summary>Its time to live is over.</summary>
    Expired = 3,
}
