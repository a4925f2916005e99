namespace LightQ.Cli.Output;

/// <summary>What <c>topic delete</c> deleted.</summary>
internal sealed record DeletedView(string Deleted);
