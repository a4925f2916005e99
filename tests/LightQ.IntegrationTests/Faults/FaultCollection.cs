using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>Rows that kill processes and fill disks run one after the other, beside nothing else.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class FaultCollection
{
    public const string Name = "Faults";
}
