namespace LightQ.Server;

/// <summary>Settings of the dashboard, the page for browsers at the web port.</summary>
public sealed record DashboardOptions
{
    /// <summary>
    /// Whether the web port serves the dashboard. Default true. It shows what its user may see, by the rules of the web
    /// port.
    /// </summary>
    public bool IsEnabled { get; init; } = true;
}
