namespace LightQ.Server.Security;

/// <summary>What a <see cref="SecurityEvent"/> is about.</summary>
internal enum SecurityAction
{
    /// <summary>A client authenticated, on any port.</summary>
    LoginAccepted,

    /// <summary>Somebody did not.</summary>
    LoginRefused,

    /// <summary>A token was given back before its time.</summary>
    LoggedOut,

    /// <summary>A user was made.</summary>
    UserCreated,

    /// <summary>A user, or a topic's own user, got another password.</summary>
    PasswordChanged,

    /// <summary>A user was deleted, with its rights and tokens.</summary>
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

    /// <summary>A topic was made.</summary>
    TopicCreated,

    /// <summary>A topic's settings were changed.</summary>
    TopicChanged,

    /// <summary>A topic and its messages are gone.</summary>
    TopicDeleted,

    /// <summary>The older messages of a topic are gone.</summary>
    TopicTruncated,

    /// <summary>A group's position was moved.</summary>
    GroupReset,

    /// <summary>A group gets no messages until it is resumed.</summary>
    GroupPaused,

    /// <summary>A group gets messages again.</summary>
    GroupResumed,

    /// <summary>A group and its position are gone.</summary>
    GroupDeleted,

    /// <summary>A group's dead-lettered messages were made available to it again.</summary>
    GroupRedriven,

    /// <summary>Single dead letters of a group were redriven.</summary>
    LettersRedriven,

    /// <summary>Single dead letters of a group were settled, and nothing else was done with them.</summary>
    LettersDeleted,

    /// <summary>The message of a dead letter was published again.</summary>
    LetterRepublished,

    /// <summary>A stored message was published again.</summary>
    MessageRepublished,

    /// <summary>The broker takes work.</summary>
    BrokerStarted,

    /// <summary>Somebody has asked the broker to stop.</summary>
    StopRequested,

    /// <summary>The broker begins to stop.</summary>
    BrokerStopping,

    /// <summary>The broker has ended all connections in good order and closes its files.</summary>
    BrokerStopped,

    /// <summary>The configuration was read again.</summary>
    ConfigurationReloaded,

    /// <summary>Somebody gets a copy of what the broker holds.</summary>
    BackupStarted,

    /// <summary>The catalog on the disk may not be what counts: a restart may undo changes.</summary>
    CatalogFailed,

    /// <summary>It is again.</summary>
    CatalogStored,

    /// <summary>
    /// The broker accepts work on a catalog that was repaired and has lost changes: only admin may log in.
    /// </summary>
    CatalogUnconfirmed,

    /// <summary>An administrator has confirmed that catalog: all users may log in again.</summary>
    CatalogConfirmed,

    /// <summary>A node of the cluster was told to give its partitions away.</summary>
    NodeDrained,

    /// <summary>A partition was given to another node.</summary>
    PartitionMoved,

    /// <summary>The replicated logs of a topic are written anew from copies of the brokers.</summary>
    TopicRepaired,

    /// <summary>The cluster's catalog was written anew from what a broker knew.</summary>
    CatalogRewritten,

    /// <summary>Streams of the engine were removed that no topic had.</summary>
    StreamsRemoved,
}
