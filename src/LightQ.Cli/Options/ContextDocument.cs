namespace LightQ.Cli.Options;

/// <summary>What the file of contexts holds.</summary>
internal sealed class ContextDocument
{
    /// <summary>The context in use; null for none.</summary>
    public string? Current { get; set; }

    /// <summary>The contexts by name.</summary>
    public SortedDictionary<string, StoredContext> Contexts { get; init; } = new(StringComparer.Ordinal);
}
