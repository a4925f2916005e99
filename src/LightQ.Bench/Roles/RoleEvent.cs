namespace LightQ.Bench.Roles;

/// <summary>What has happened in a role.</summary>
internal enum RoleEvent
{
    /// <summary>It listens; a relay says so once.</summary>
    Listening,

    /// <summary>It is connected and subscribed; a producer waits for "go" now.</summary>
    Ready,

    /// <summary>The run is over.</summary>
    Done,

    /// <summary>The run could not be finished.</summary>
    Failed,
}
