namespace LightQ.Storage.Writing;

/// <summary>What a commit left.</summary>
internal enum WriteOutcome
{
    /// <summary>Nothing more to write.</summary>
    Drained,

    /// <summary>The ring holds more.</summary>
    More,

    /// <summary>The next segment cannot be made until space returns.</summary>
    Blocked,
}
