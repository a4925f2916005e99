namespace LightQ.Cli.Messages;

/// <summary>How <c>sub</c> writes a message.</summary>
internal enum MessageFormat
{
    /// <summary>The body as text and a newline; what would disturb a terminal is escaped.</summary>
    Text,

    /// <summary>One JSON object a line, with offset, time, key and headers.</summary>
    Json,

    /// <summary>The body and a newline: the inverse of <c>pub --file</c>.</summary>
    Raw,

    /// <summary>The body and nothing else.</summary>
    Bytes,
}
