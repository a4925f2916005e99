namespace LightQ.Cli.Output;

/// <summary>For whom a command writes.</summary>
internal enum OutputFormat
{
    /// <summary>People: aligned tables.</summary>
    Table,

    /// <summary>Programs.</summary>
    Json,
}
