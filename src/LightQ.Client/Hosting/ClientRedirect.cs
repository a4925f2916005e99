namespace LightQ.Client.Hosting;

/// <summary>Sends a client to another broker than its configuration names: that of a test.</summary>
/// <param name="Key">The client's key; null for each client that has no redirect of its own.</param>
/// <param name="Apply">Names the broker, and how to log in there.</param>
internal sealed record ClientRedirect(object? Key, Func<LightQClientOptions, LightQClientOptions> Apply);
