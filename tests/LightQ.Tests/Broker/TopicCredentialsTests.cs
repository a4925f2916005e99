using LightQ.Broker.Topics;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class TopicCredentialsTests
{
    [Fact]
    public void Only_the_right_user_with_the_right_password_matches()
    {
        var credentials = TopicCredentials.Create("test_admin", "T0p$3cr31");

        Assert.True(credentials.Match("test_admin", "T0p$3cr31"));
        Assert.False(credentials.Match("test_admin", "T0p$3cr3"));
        Assert.False(credentials.Match("test_admin", ""));
        Assert.False(credentials.Match("admin", "T0p$3cr31"));
    }

    [Fact]
    public void The_same_password_gives_another_hash_each_time_and_none_is_printed()
    {
        TopicCredentials one = TopicCredentials.Create("u", "p"), two = TopicCredentials.Create("u", "p");

        Assert.NotEqual(one.Hash, two.Hash);
        Assert.Equal((32, 16), (one.Hash.Length, one.Salt.Length));
        Assert.Equal("u", $"{one}");
    }
}
