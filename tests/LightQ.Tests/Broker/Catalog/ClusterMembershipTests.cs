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

    [Fact]
    public void A_file_that_is_gone_is_missed_where_topics_are_those_of_a_node()
    {
        string topic = Path.Combine(_directory, "topics", Guid.NewGuid().ToString("N"));
        Directory.CreateDirectory(Path.Combine(topic, "0"));
        Assert.Null(ClusterMembership.Read(_directory));
        new TopicLabel("orders", Replicas: 3).Write(topic);

        foreach (
            Action<string> look in new Action<string>[]
            {
                Read,
                ClusterMembership.ThrowIfMember,
                FindCluster,
                ThrowIfGone,
            }
        )
        {
            DataDirectoryException error = Assert.Throws<DataDirectoryException>(() => look(_directory));
            Assert.Contains($"The file '{PathOfFile}' is gone", error.Message, StringComparison.Ordinal);
        }
        new ClusterMembership(Guid.NewGuid(), "shop", "a").Write(_directory);
        ThrowIfGone(_directory);
        Assert.Equal("a", ClusterMembership.Read(_directory)?.Node);

        static void Read(string directory) => ClusterMembership.Read(directory);
        static void FindCluster(string directory) => CatalogReader.FindCluster(directory);
        static void ThrowIfGone(string directory) => TopicCatalog.ThrowIfGone(directory);
    }

    [Theory]
    [InlineData("")]
    [InlineData("{\"Name\":\"ord")]
    [InlineData("{\"Name\":\"before\",\"Replicas\":1}")]
    public void A_damaged_or_older_label_of_a_topic_is_written_anew(string content)
    {
        string file = Path.Combine(_directory, "topic.json");
        var label = new TopicLabel("orders", Replicas: 3);
        label.Write(_directory);
        string whole = File.ReadAllText(file);
        File.WriteAllText(file, content);
        Assert.NotEqual(label, TopicLabel.Read(_directory));
        label.Write(_directory);
        Assert.Equal((label, whole), (TopicLabel.Read(_directory), File.ReadAllText(file)));
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
