using Xunit;

namespace LightQ.DashboardTests;

/// <summary>What measures or takes pictures has the machine for itself.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class AloneCollection
{
    public const string Name = "alone";
}
