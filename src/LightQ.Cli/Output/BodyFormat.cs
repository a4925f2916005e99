namespace LightQ.Cli.Output;

/// <summary>How stored messages are shown.</summary>
internal enum BodyFormat
{
    /// <summary>A line about the message, then the body as text; what would disturb a terminal is escaped.</summary>
    Text,

    /// <summary>One JSON object a line.</summary>
    Json,

    /// <summary>A line about the message, then the body's bytes, sixteen a line.</summary>
    Hex,
}
