using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class TopicSpecTests
{
    [Fact]
    public void A_retention_that_was_not_given_is_not_asked_for()
    {
        TopicSettings settings = TopicMapping.ToSettings(new TopicSpec("t"));

        Assert.False(settings.HasRetentionBytes);
        Assert.Null(settings.RetentionAge);
    }

    [Fact]
    public void A_retention_of_zero_is_asked_for()
    {
        TopicSettings settings = TopicMapping.ToSettings(
            new TopicSpec("t") { RetentionBytes = 0, RetentionAge = TimeSpan.Zero }
        );

        Assert.True(settings.HasRetentionBytes);
        Assert.Equal(0UL, settings.RetentionBytes);
        Assert.Equal(TimeSpan.Zero, settings.RetentionAge.ToTimeSpan());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(5)]
    public void Replicas_go_and_come_back(int replicas)
    {
        var spec = new TopicSpec("t") { Replicas = replicas };
        TopicSettings settings = TopicMapping.ToSettings(spec);
        Assert.Equal((uint)replicas, settings.Replicas);
        Assert.Equal(replicas, TopicMapping.ToInfo(new Topic { Name = "t", Settings = settings }).Spec.Replicas);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(2)]
    [InlineData(7)]
    public void Other_numbers_of_replicas_are_refused(int replicas) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new TopicSpec("t") { Replicas = replicas });

    [Fact]
    public void A_negative_retention_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new TopicSpec("t") { RetentionBytes = -1 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new TopicSpec("t") { RetentionAge = TimeSpan.FromTicks(-1) });
    }
}
