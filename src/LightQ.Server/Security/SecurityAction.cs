namespace LightQ.Server.Security;

/// <summary>What a <see cref="SecurityEvent"/> is about.</summary>
internal enum SecurityAction
{
    /// <summary>Somebody proved who they are, on any port.</summary>
    LoginAccepted,

    /// <summary>Somebody did not.</summary>
    LoginRefused,

    /// <summary>A token was given back before its time.</summary>
    LoggedOut,

    /// <summary>A user was made.</summary>
    UserCreated,

    /// <summary>A user, or a topic's own user, got another password.</summary>
    PasswordChanged,

    /// <summary>A user is gone, and with it its rights and tokens.</summary>
    UserDeleted,

    /// <summary>A user got a right.</summary>
    RightGranted,

    /// <summary>A user lost a right.</summary>
    RightRevoked,

    /// <summary>A token was made that outlives a login.</summary>
    TokenCreated,

    /// <summary>Such a token is worth nothing any more.</summary>
    TokenRevoked,

    /// <summary>A topic got, changed or lost its own user.</summary>
    TopicCredentialsChanged,
}
