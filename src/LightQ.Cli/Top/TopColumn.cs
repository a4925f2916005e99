namespace LightQ.Cli.Top;

/// <summary>A column of a view.</summary>
/// <param name="Name">What stands above it, and what <c>--sort</c> calls it.</param>
/// <param name="Cell">A row's value.</param>
internal sealed record TopColumn<T>(string Name, Func<T, TopCell> Cell);
