using System.Collections.Concurrent;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>Messages between nodes that no stream keeps.</summary>
public sealed class ChannelTests(NatsFixture nats) : EngineTest(nats)
{
    private const string Probe = "probe";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task What_is_published_reaches_all_that_listen_in_order_and_no_stream()
    {
        IReplicatedStream stream = await CreateAsync();
        JetStreamEngine other = await ConnectAsync(Patience, Patience);
        ConcurrentQueue<string> here = new(),
            there = new();
        string channel = NewName();
        await using IAsyncDisposable listening = await Engine.ListenAsync(channel, Into(here), Cancellation);
        await using IAsyncDisposable elsewhere = await other.ListenAsync(channel, Into(there), Cancellation);
        await using IAsyncDisposable another = await other.ListenAsync(
            NewName(),
            _ => Assert.Fail("It listens to another channel."),
            Cancellation
        );
        // A server tells the others who listens, which takes a moment.
        await Eventually.TrueAsync(
            async () =>
            {
                await Engine.PublishAsync(channel, Payload(Probe), Cancellation);
                return !here.IsEmpty && !there.IsEmpty;
            },
            Patience,
            () => "Nothing came."
        );
        string[] sent = [.. Enumerable.Range(0, 100).Select(i => $"m{i}")];
        foreach (string text in sent)
            await Engine.PublishAsync(channel, Payload(text), Cancellation);
        await Eventually.TrueAsync(
            () => here.Contains(sent[^1]) && there.Contains(sent[^1]),
            Patience,
            () => $"{here.Count} came here and {there.Count} there."
        );
        Assert.Equal(sent, here.Where(text => text != Probe));
        Assert.Equal(sent, there.Where(text => text != Probe));
        Assert.Empty(await ReadAsync(stream));
    }

    [Fact]
    public async Task A_listener_that_ends_gets_nothing_more()
    {
        ConcurrentQueue<string> first = new(),
            second = new();
        string channel = NewName();
        IAsyncDisposable listening = await Engine.ListenAsync(channel, Into(first), Cancellation);
        await listening.DisposeAsync();
        await using IAsyncDisposable other = await Engine.ListenAsync(channel, Into(second), Cancellation);
        await Engine.PublishAsync(channel, Payload("late"), Cancellation);
        await Eventually.TrueAsync(() => !second.IsEmpty, Patience, () => "Nothing came.");
        Assert.Empty(first);
    }

    [Fact]
    public async Task A_name_that_is_no_subject_is_refused() =>
        await Assert.ThrowsAsync<ArgumentException>(async () =>
            await Engine.PublishAsync("a.b", Payload("x"), Cancellation)
        );

    private static Action<ReadOnlyMemory<byte>> Into(ConcurrentQueue<string> queue) =>
        bytes => queue.Enqueue(System.Text.Encoding.UTF8.GetString(bytes.Span));
}
