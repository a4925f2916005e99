namespace LightQ.Server;

/// <summary>How a server process writes its log.</summary>
public enum LogFormat
{
    /// <summary>A line for people.</summary>
    Text,

    /// <summary>One JSON object per line, with the event's number and the values of the message by name.</summary>
    Json,

    /// <summary>A line with the syslog priority in front, as the systemd journal reads it.</summary>
    Systemd,
}
