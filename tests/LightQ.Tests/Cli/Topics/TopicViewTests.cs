using LightQ.Cli.Topics;
using LightQ.Client;
using LightQ.Client.Administration;
using Xunit;

namespace LightQ.Tests.Cli.Topics;

public sealed class TopicViewTests
{
    [Theory]
    [InlineData(0, false)]
    [InlineData(1, false)]
    [InlineData(3, true)]
    public void Replicas_are_shown_where_there_are_some(int replicas, bool areShown)
    {
        var info = new TopicInfo(
            new TopicSpec("orders") { Kind = TopicKind.Durable, Replicas = replicas },
            "00112233445566778899aabbccddeeff",
            DateTimeOffset.UnixEpoch,
            [0],
            [0],
            ""
        );
        Assert.Equal(areShown, TopicView.From(info).Rows().Contains(("replicas", "3")));
        Assert.Equal(areShown, TopicView.From(info).Rows().Any(r => r.Name == "replicas"));
    }
}
