using System.Text;
using LightQ.Broker.Catalog;
using LightQ.Broker.Users;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Broker.Catalog;

public sealed class CatalogEntryTests
{
    [Fact]
    public void What_is_written_is_read()
    {
        var entry = new CatalogEntry(
            Guid.NewGuid(),
            [
                new CatalogRecord
                {
                    Cluster = new CatalogRecord.ClusterEntry(Guid.NewGuid(), DateTimeOffset.UnixEpoch),
                },
                new CatalogRecord { DeletedUser = "alice" },
            ],
            new CatalogEntry.CopyPart(Guid.NewGuid(), 17, 1, 3)
        );
        var read = CatalogEntry.Read(entry.Write());
        Assert.Equal((entry.Id, entry.Copy), (read.Id, read.Copy));
        Assert.Equal(entry.Records, read.Records);
    }

    [Theory]
    [InlineData("")]
    [InlineData("{}")]
    [InlineData("{\"Records\":[null]}")]
    [InlineData("{\"Records\":[{\"Producer\":{\"Id\":1}}]}")]
    [InlineData("{\"Records\":[{\"ForgottenProducers\":{}}]}")]
    public void What_is_no_entry_is_refused(string stored) =>
        Assert.Throws<JournalFormatException>(() => CatalogEntry.Read(Encoding.UTF8.GetBytes(stored)));

    [Fact]
    public void Records_are_divided_in_order_and_none_is_lost()
    {
        CatalogRecord[] records =
        [
            .. Enumerable
                .Range(0, 100)
                .Select(i => new CatalogRecord
                {
                    User = new User($"u{i}", Guid.NewGuid(), DateTimeOffset.UnixEpoch, new string('x', i), 0, []),
                }),
        ];
        CatalogRecord[][] parts = [.. CatalogEntry.Split(records, 4_096)];
        Assert.True(parts.Length > 5);
        Assert.Equal(records, parts.SelectMany(p => p));
        Assert.All(parts, p => Assert.True(new CatalogEntry(Guid.Empty, p).Write().Length <= 4_096));
        Assert.Single(CatalogEntry.Split([], 4_096));
    }
}
