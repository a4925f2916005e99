using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>Making, finding and deleting streams.</summary>
public sealed class StreamTests(NatsFixture nats) : EngineTest(nats)
{
    [Fact]
    public async Task A_stream_is_made_once_and_found_the_second_time()
    {
        string name = NewName();
        IReplicatedStream first = await Engine.CreateStreamAsync(name, 3, Cancellation);
        Stored entry = await AppendAsync(first, 0, "kept");

        IReplicatedStream second = await Engine.CreateStreamAsync(name, 3, Cancellation);
        Assert.Equal(name, second.Name);
        Assert.Equal([entry], await ReadAsync(second));
    }

    [Fact]
    public async Task A_stream_with_other_settings_is_a_failure_that_names_the_setting()
    {
        IReplicatedStream stream = await Engine.CreateStreamAsync(NewName(), 1, Cancellation);
        ReplicationException failure = await Assert.ThrowsAsync<ReplicationException>(async () =>
            await Engine.CreateStreamAsync(stream.Name, 3, Cancellation)
        );
        Assert.Contains(stream.Name, failure.Message, StringComparison.Ordinal);
        Assert.Contains("num_replicas is 1 and not 3", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task More_replicas_than_servers_are_a_failure_that_says_what_the_server_says()
    {
        ReplicationException failure = await Assert.ThrowsAsync<ReplicationException>(async () =>
            await Engine.CreateStreamAsync(NewName(), 5, Cancellation)
        );
        Assert.Contains("(10", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Streams_are_listed_by_prefix_until_they_are_deleted()
    {
        string[] names = [NewName(), NewName(), NewName()];
        foreach (string name in names)
            await Engine.CreateStreamAsync(name, 1, Cancellation);
        Assert.Equal(names, await ListAsync());

        await Engine.DeleteStreamAsync(names[1], Cancellation);
        await Engine.DeleteStreamAsync(names[1], Cancellation);
        Assert.Equal([names[0], names[2]], await ListAsync());

        IReplicatedStream deleted = Engine.GetStream(names[1]);
        await Assert.ThrowsAsync<ReplicationException>(async () => await deleted.GetBoundsAsync(Cancellation));
        EntryAppend append = await deleted.AppendAsync(EntryKind.Data, Payload("x"), 0, Cancellation);
        Assert.Equal(AppendOutcome.Unknown, append.Outcome);
        Assert.Contains("503", append.Reason, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("a.b")]
    [InlineData("a*")]
    [InlineData("a b")]
    public void A_name_that_is_no_part_of_a_subject_is_refused(string name) =>
        Assert.Throws<ArgumentException>(() => Engine.GetStream(name));

    [Fact]
    public void The_engine_says_its_name_and_its_largest_entry()
    {
        Assert.Matches(@"^nats-server \d+\.\d+\.\d+", Engine.Description);
        Assert.Equal((8 * 1024 * 1024) - 1024, Engine.MaxEntryBytes);
    }

    private async Task<List<string>> ListAsync()
    {
        List<string> names = [];
        await foreach (string name in Engine.ListStreamsAsync(Prefix, Cancellation))
            names.Add(name);
        names.Sort(StringComparer.Ordinal);
        return names;
    }
}
