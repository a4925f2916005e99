namespace LightQ.Server.Security;

/// <summary>The kind of a <see cref="Principal"/>.</summary>
internal enum PrincipalKind
{
    /// <summary>Nobody in particular.</summary>
    Anonymous,

    /// <summary>A user.</summary>
    User,

    /// <summary>A topic's own user, which may do nothing elsewhere.</summary>
    TopicUser,

    /// <summary>The user whose password is in the data directory.</summary>
    Admin,
}
