using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Tls;

public sealed class TlsDeliveryTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task Messages_of_all_sizes_go_through_on_both_planes(ReceiveMode mode)
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        await using var client = new LightQClient(files.ClientOptions(server) with { ReceiveMode = mode });
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Transient }, cancellation);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: cancellation);

        // Around what a TLS record holds (16 KiB), what a block of the broker holds (256 KiB), and what it encrypts at
        // a time (128 KiB).
        int[] sizes = [0, 1, 100, 16_000, 16_384, 16_385, 65_536, 131_072, 140_000, 262_144, 300_000, 1_000_000, 7];
        await using IAsyncEnumerator<Message> received = client
            .ConsumeAsync("t", new() { Start = StartPosition.Earliest }, cancellation)
            .GetAsyncEnumerator(cancellation);
        foreach (int size in sizes)
        {
            byte[] body = new byte[size];
            new Random(size).NextBytes(body);
            await producer.PublishAsync(body, cancellationToken: cancellation);
            Assert.True(await received.MoveNextAsync().AsTask().WaitAsync(Patience, cancellation));
            Assert.Equal(body, received.Current.Body.ToArray());
        }
        Assert.Empty(server.Log.Errors);
    }

    [Fact]
    public async Task A_stream_of_messages_arrives_whole_and_in_order_and_the_end_is_clean()
    {
        const int Count = 20_000;
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        await using (var client = new LightQClient(files.ClientOptions(server)))
        {
            await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Transient }, cancellation);
            await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: cancellation);
            await using IAsyncEnumerator<Message> received = client
                .ConsumeAsync("t", new() { Start = StartPosition.Earliest }, cancellation)
                .GetAsyncEnumerator(cancellation);
            Task publishing = Task.Run(
                async () =>
                {
                    for (int i = 0; i < Count; i++)
                    {
                        while (!producer.TryPublish([.. BitConverter.GetBytes(i), .. new byte[i % 700]]))
                            await producer.WaitForRoomAsync(cancellation);
                    }
                    await producer.FlushAsync(cancellation);
                },
                cancellation
            );
            for (int i = 0; i < Count; i++)
            {
                Assert.True(await received.MoveNextAsync().AsTask().WaitAsync(Patience, cancellation));
                Assert.Equal(
                    (i, 4 + (i % 700)),
                    (BitConverter.ToInt32(received.Current.Body.Span), received.Current.Body.Length)
                );
            }
            await publishing;
        }
        await server.ConnectionsAsync(0);
        Assert.Empty(server.Log.Errors);
        Assert.DoesNotContain(server.Log.Lines, l => l.Message.Contains("TLS handshake", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_self_signed_certificate_is_made_once_and_works_with_what_the_server_says()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { Tls = new() { SelfSigned = true } });
        string file = Path.Combine(server.Directory, "tls-self-signed.crt");
        Assert.EndsWith(
            $"&tls=true&ca={Uri.EscapeDataString(file)}",
            server.ConnectionString,
            StringComparison.Ordinal
        );
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(
                UnixFileMode.UserRead | UnixFileMode.UserWrite,
                File.GetUnixFileMode(Path.Combine(server.Directory, "tls-self-signed.key"))
            );
        }

        string made = await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken);
        await server.RestartAsync();
        Assert.Equal(made, await File.ReadAllTextAsync(file, TestContext.Current.CancellationToken));
        foreach (string host in (string[])["127.0.0.1", "localhost"])
        {
            await using var client = new LightQClient(
                LightQClientOptions.Parse(server.ConnectionString) with
                {
                    Host = host,
                }
            );
            await client.ConnectAsync(TestContext.Current.CancellationToken);
            await client.Topics.CreateAsync(
                new TopicSpec(host) { Kind = TopicKind.Transient },
                TestContext.Current.CancellationToken
            );
        }
    }

    [Fact]
    public async Task A_server_that_stops_tells_its_clients_over_TLS_too()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        await using var client = new LightQClient(files.ClientOptions(server));
        var going = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.GoingAway += (_, e) => going.TrySetResult(e.Message);
        await client.ConnectAsync(TestContext.Current.CancellationToken);
        await server.Server.StopAsync();
        Assert.Contains(
            "stopping",
            await going.Task.WaitAsync(Patience, TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
    }
}
