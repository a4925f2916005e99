namespace LightQ.Cli.Commands;

/// <summary>What <c>topic delete</c> deleted.</summary>
internal sealed record DeletedView(string Deleted);
