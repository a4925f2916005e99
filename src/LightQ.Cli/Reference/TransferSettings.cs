using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Reference;

/// <summary>What <c>producer</c> and <c>consumer</c> can both be told.</summary>
internal sealed record TransferSettings
{
    public required LightQClientOptions Client { get; init; }

    public required IReadOnlyList<string> Topics { get; init; }

    /// <summary>Messages of each topic.</summary>
    public required long Messages { get; init; }

    public TransferStyle Style { get; init; }

    public OutputFormat Output { get; init; }
}
