namespace LightQ.Cli.Contexts;

/// <summary>What became of a context, and which is in use now.</summary>
internal sealed record ContextChangeView(string? Name, string Change, string? Current);
