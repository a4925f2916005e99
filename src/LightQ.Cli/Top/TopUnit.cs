namespace LightQ.Cli.Top;

/// <summary>What a cell holds.</summary>
internal enum TopUnit
{
    /// <summary>A text.</summary>
    Text,

    /// <summary>A number of something, or of something a second.</summary>
    Number,

    /// <summary>A number of bytes, or of bytes a second.</summary>
    Bytes,

    /// <summary>Seconds.</summary>
    Seconds,
}
