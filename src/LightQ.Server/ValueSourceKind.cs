namespace LightQ.Server;

/// <summary>The kinds of places that the value of a setting comes from.</summary>
internal enum ValueSourceKind
{
    /// <summary>It is set nowhere.</summary>
    Default,

    /// <summary>A configuration file.</summary>
    File,

    /// <summary>An environment variable.</summary>
    Environment,

    /// <summary>A flag of the command line.</summary>
    CommandLine,

    /// <summary>The program that the server is a part of.</summary>
    Code,
}
