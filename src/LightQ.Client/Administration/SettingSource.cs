namespace LightQ.Client.Administration;

/// <summary>Where the value of a broker's setting comes from.</summary>
public enum SettingSource
{
    /// <summary>It is set nowhere.</summary>
    Default = 1,

    /// <summary>The configuration file.</summary>
    File = 2,

    /// <summary>An environment variable.</summary>
    Environment = 3,

    /// <summary>A flag of the command line.</summary>
    CommandLine = 4,

    /// <summary>The program that the broker is a part of.</summary>
    Code = 5,
}
