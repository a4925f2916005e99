using LightQ.Broker.Catalog;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Broker.Catalog;

public sealed class ClusterMembershipTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-member-").FullName;

    private string PathOfFile => Path.Combine(_directory, ClusterMembership.FileName);

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public void A_directory_without_the_file_belongs_to_no_cluster()
    {
        Assert.Null(ClusterMembership.Read(_directory));
        ClusterMembership.ThrowIfMember(_directory);
    }

    [Fact]
    public void What_is_written_is_read_and_refused_to_a_broker_alone()
    {
        var written = new ClusterMembership(Guid.NewGuid(), "shop", "a");
        written.Write(_directory);
        (written with { Node = "b" }).Write(_directory);
        Assert.Equal(written with { Node = "b" }, ClusterMembership.Read(_directory));
        DataDirectoryException error = Assert.Throws<DataDirectoryException>(() =>
            ClusterMembership.ThrowIfMember(_directory)
        );
        Assert.Contains("the node 'b' of the cluster 'shop'", error.Message, StringComparison.Ordinal);
        Assert.False(CatalogReader.IsGone(_directory));
    }

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("{}")]
    [InlineData("{\"ClusterId\":\"x\",\"Cluster\":\"shop\",\"Node\":\"a\"}")]
    public void A_damaged_file_is_refused(string content)
    {
        File.WriteAllText(PathOfFile, content);
        DataDirectoryException error = Assert.Throws<DataDirectoryException>(() => ClusterMembership.Read(_directory));
        Assert.Contains($"The file '{PathOfFile}' is damaged", error.Message, StringComparison.Ordinal);
    }
}
