namespace LightQ.Client.Administration;

/// <summary>A right: what a user may do. None of the first three includes another.</summary>
public enum UserRight
{
    /// <summary>Publish to a topic.</summary>
    Publish = 1,

    /// <summary>Subscribe to a topic, alone or in any group.</summary>
    Consume = 2,

    /// <summary>Create, change, truncate and delete a topic, give it a user of its own, and move its groups.</summary>
    Manage = 3,

    /// <summary>Everything on every topic, and managing users, rights and tokens.</summary>
    Admin = 4,
}
