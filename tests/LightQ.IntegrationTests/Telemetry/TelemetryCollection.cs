using Xunit;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>
/// Listeners are the process's: what other tests publish meanwhile would be observed, too, and carry trace contexts.
/// </summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class TelemetryCollection
{
    public const string Name = "Telemetry";
}
