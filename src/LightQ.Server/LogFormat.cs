namespace LightQ.Server;

/// <summary>How a server process writes its log.</summary>
public enum LogFormat
{
    /// <summary>A line for people.</summary>
    Text,

    /// <summary>A JSON object a line, with the event's number and the values of the message by name.</summary>
    Json,

    /// <summary>A line with the syslog priority in front, as the journal of systemd reads it.</summary>
    Systemd,
}
