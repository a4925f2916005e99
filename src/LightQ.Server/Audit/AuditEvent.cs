namespace LightQ.Server.Audit;

/// <summary>What the log says of itself.</summary>
internal enum AuditEvent
{
    /// <summary>The first line of a chain.</summary>
    ChainStarted,

    /// <summary>A crash had left a part of a line, which was cut off.</summary>
    TailCut,

    /// <summary>
    /// At its start the broker found that lines were missing or altered; what follows is a new beginning.
    /// </summary>
    ChainBroken,

    /// <summary>The oldest file was deleted, as there were too many.</summary>
    FileRemoved,

    /// <summary>Logins that were too many to be logged one by one.</summary>
    LoginsSummarised,

    /// <summary>Events that could not be kept, because the disk took nothing for too long.</summary>
    EventsLost,
}
