namespace LightQ.Cli.Reference;

/// <summary>The document whose wording <c>producer</c> and <c>consumer</c> use.</summary>
internal enum TransferStyle
{
    /// <summary>The document of LightQ's ancestor of the same name.</summary>
    LightQ,

    /// <summary>The document of that one's predecessor, myq.</summary>
    Myq,
}
