namespace LightQ.Client.Hosting;

/// <summary>Changes what was read of a client's options.</summary>
/// <param name="Key">The client's key; null for the one without.</param>
/// <param name="Apply">The change.</param>
internal sealed record ClientChange(
    object? Key,
    Func<IServiceProvider, LightQClientOptions, LightQClientOptions> Apply
);
