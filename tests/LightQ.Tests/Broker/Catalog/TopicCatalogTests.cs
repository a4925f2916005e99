using LightQ.Broker;
using LightQ.Broker.Catalog;
using LightQ.Client;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Broker.Catalog;

public sealed class TopicCatalogTests : IDisposable
{
    private const long CompactBytes = 16 * 1024;

    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-catalog-").FullName;
    private readonly JournalEnvironment _environment = new(new JournalEnvironmentOptions { Writers = 1, Readers = 1 });

    [Fact]
    public void Instances_of_a_producer_that_come_and_go_leave_no_endless_history()
    {
        var topic = Guid.NewGuid();
        uint lastEpoch = 0;
        ulong id = 0,
            instance = 0;
        using (TopicCatalog catalog = Open())
        {
            for (; instance < 500; instance++)
            {
                (id, uint epoch) = catalog.NextEpoch(topic, "importer", instance, isReturning: false);
                Assert.True(epoch > lastEpoch);
                lastEpoch = epoch;
                Assert.InRange(catalog.Bytes, 1, CompactBytes + 1024);
            }
        }

        using TopicCatalog again = Open();
        BrokerException error = Assert.Throws<BrokerException>(() =>
            again.NextEpoch(topic, "importer", 1, isReturning: true)
        );
        Assert.Equal(ErrorCode.Fenced, error.Code);
        (ulong sameId, uint next) = again.NextEpoch(topic, "importer", instance - 1, isReturning: true);
        Assert.Equal(id, sameId);
        Assert.True(next > lastEpoch);
    }

    public void Dispose()
    {
        _environment.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    private TopicCatalog Open() => new(_directory, _environment, compactBytes: CompactBytes);
}
