using System.Text.Json.Serialization;

namespace LightQ.Client.Administration;

/// <summary>What a request about a dead letter has come to.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<LetterOutcome>))]
public enum LetterOutcome
{
    /// <summary>Nothing was asked for, or it failed.</summary>
    None = 0,

    /// <summary>Done, and the letter is settled.</summary>
    Done = 1,

    /// <summary>Nothing was done: it was settled before.</summary>
    SettledBefore = 2,

    /// <summary>
    /// There is no letter of the group about a message of the topic at this offset, or not any more.
    /// </summary>
    NotFound = 3,

    /// <summary>
    /// Not redriven: the topic no longer holds the original. The letter waits on, and can be republished or deleted.
    /// </summary>
    OriginalGone = 4,

    /// <summary>Not redriven: the group has the original to settle already. The letter waits on.</summary>
    OriginalUnsettled = 5,
}
