using System.Text.Json.Serialization;

namespace LightQ.Client;

/// <summary>The result of a settlement.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<SettleOutcome>))]
public enum SettleOutcome : ushort
{
    /// <summary>The broker has carried it out.</summary>
    Done = 0,

    /// <summary>
    /// The settlement came too late: the lock had expired, and another consumer may have the messages by now.
    /// </summary>
    LockExpired = 1,

    /// <summary>This subscription has no such delivery, or the messages were settled before.</summary>
    Unknown = 2,
}
