namespace LightQ.Cli.Top;

/// <summary>Whether a value wants a person's attention.</summary>
internal enum TopMark
{
    /// <summary>No.</summary>
    None,

    /// <summary>Perhaps.</summary>
    Warning,

    /// <summary>Yes.</summary>
    Bad,
}
