using Xunit;

namespace LightQ.ClusterTests.Nats;

/// <summary>The collection of the tests that share one cluster of nats-servers.</summary>
[CollectionDefinition(Name)]
public sealed class NatsTests : ICollectionFixture<NatsFixture>
{
    public const string Name = "nats-server";
}
