using System.Diagnostics;
using System.Globalization;
using System.Text;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>
/// A command ends when nobody reads its output any more, as behind <c>lightq sub orders | head -2</c>, and settles only
/// what it has written.
/// </summary>
public sealed class ClosedPipeTests
{
    /// <summary>What a shell says of a program that SIGPIPE has ended.</summary>
    private const int OutputClosed = 141;

    /// <summary>
    /// More than a pipe takes (64 KiB, where it was not made larger): such a message is written only when it is read.
    /// </summary>
    private const int LargeBody = 256 * 1024;

    private const int ManyMessages = 200_000;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_subscription_to_many_messages_ends_with_its_pipe_and_settles_no_more_than_went_into_it(
        bool isMember,
        bool isLimited
    )
    {
        FaultRun.RequireTier("A process is started for each row.");
        SkipOnWindows();
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", Broker.Topics.TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, ManyMessages, "a message of some length");

        using Process subscriber = Subscribe(
            server,
            [
                .. isMember ? ["--group", "g"] : Array.Empty<string>(),
                .. isLimited ? ["--max-in-flight", "1"] : Array.Empty<string>(),
            ]
        );
        int read = await ReadLinesAsync(subscriber, 2);
        await CloseAndEndAsync(subscriber);

        if (!isMember)
            return;
        GroupPartitionInfo group = await GroupAsync(client);
        Assert.InRange(
            group.CommittedOffset,
            isLimited ? 1 : 0,
            (read + LargeBody) / "a message of some length\n".Length
        );
        Assert.Equal(0, group.InFlight);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_member_whose_pipe_closes_has_settled_what_was_read_of_messages_that_a_pipe_cannot_hold(
        bool isLimited
    )
    {
        SkipOnWindows();
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", Broker.Topics.TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, 10, new string('m', LargeBody), isEachAlone: true);

        using Process subscriber = Subscribe(
            server,
            ["--group", "g", .. isLimited ? ["--max-in-flight", "1"] : Array.Empty<string>()]
        );
        await ReadLinesAsync(subscriber, 2);
        await CloseAndEndAsync(subscriber);

        GroupPartitionInfo group = await GroupAsync(client);
        Assert.Equal((2, 0), (group.CommittedOffset, group.InFlight));
        await AssertNextAsync(client, 2);
    }

    [Fact]
    public async Task A_member_that_has_what_it_was_asked_for_settles_that_and_gives_back_what_it_holds()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", Broker.Topics.TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, 1000, "hello");

        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(
                "hello\nhello\n",
                (await LightQTool.RunAsync(server.ConnectionString, "sub", "t", "--group", "g", "--count", "2"))
                    .Succeeded()
                    .Text
            );
        }

        Assert.Equal(6, (await GroupAsync(client)).CommittedOffset);
        await AssertNextAsync(client, 6);
    }

    [Theory]
    [InlineData("sub", "t", "--from", "earliest")]
    [InlineData("sub", "t", "--from", "earliest", "--group", "g")]
    [InlineData("sub", "t", "--from", "earliest", "--group", "g", "--max-in-flight", "1")]
    [InlineData("stats", "t", "--watch", "--interval", "1h")]
    [InlineData("top", "--view", "nodes", "--interval", "1h")]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_command_that_waits_ends_with_its_pipe_though_it_has_nothing_to_write(params string[] command)
    {
        FaultRun.RequireTier("A process is started for each row.");
        SkipOnWindows();
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", Broker.Topics.TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await PublishAsync(client, 2, "hello");

        using Process waiting = LightQTool.Start(server.ConnectionString, command);
        await ReadLinesAsync(waiting, 2);
        await CloseAndEndAsync(waiting);
    }

    [Fact]
    public async Task A_command_that_reads_files_ends_with_its_pipe()
    {
        SkipOnWindows();
        using var directory = new TemporaryDirectory();
        await using (TestServer server = await TestServer.StartAsync(directory.Path))
        {
            await server.CreateTopicAsync("t", Broker.Topics.TopicKind.Durable);
            await using var client = new LightQClient(server.ConnectionString);
            await PublishAsync(client, ManyMessages, "hello");
        }

        using (Process dump = LightQTool.Start(null, "journal", "dump", directory.Path, "--records"))
        {
            await ReadLinesAsync(dump, 2);
            await CloseAndEndAsync(dump);
        }
        using Process audit = LightQTool.Start(null, "audit", "show", directory.Path, "--output", "json");
        await CloseAndEndAsync(audit); // Long before it has anything to write.
    }

    [Fact]
    public async Task A_broker_outlives_who_read_what_it_printed()
    {
        SkipOnWindows();
        using var directory = new TemporaryDirectory();
        int port = FreePorts.Find(3);
        string[] ports = [.. Enumerable.Range(port, 3).Select(p => p.ToString(CultureInfo.InvariantCulture))];
        using Process server = LightQTool.Start(
            null,
            "server",
            "--data",
            directory.Path,
            "--data-port",
            ports[0],
            "--control-port",
            ports[1],
            "--web-port",
            ports[2]
        );

        server.StandardOutput.Close(); // Long before it says where it listens.

        await using (
            var client = new LightQClient(
                LightQClientOptions.Parse($"lightq://127.0.0.1:{ports[0]}") with
                {
                    WaitForBroker = true,
                }
            )
        )
        {
            await client.ConnectAsync(Cancelled);
        }

        using Process kill = Process.Start("kill", ["-TERM", server.Id.ToString(CultureInfo.InvariantCulture)]);
        await LightQTool.EndAsync(server);
        Assert.Equal(0, server.ExitCode);
    }

    private static void SkipOnWindows() =>
        Assert.SkipWhen(
            OperatingSystem.IsWindows(),
            "a pipe of Windows does not say that its other end is gone until something is written"
        );

    private static Process Subscribe(TestServer server, string[] more) =>
        LightQTool.Start(server.ConnectionString, ["sub", "t", "--from", "earliest", .. more]);

    private static async Task PublishAsync(LightQClient client, int count, string body, bool isEachAlone = false)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(body);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        for (int i = 0; i < count; i++)
        {
            while (!producer.TryPublish(bytes))
                await producer.WaitForRoomAsync(Cancelled);
            if (isEachAlone)
                await producer.FlushAsync(Cancelled);
        }
        await producer.FlushAsync(Cancelled);
    }

    /// <summary>Reads to the end of so many lines, and little further.</summary>
    /// <returns>How many bytes were read.</returns>
    private static async Task<int> ReadLinesAsync(Process process, int lines)
    {
        byte[] block = new byte[4096];
        int bytes = 0;
        while (lines > 0)
        {
            int count = await process.StandardOutput.BaseStream.ReadAsync(block, Cancelled);
            if (count == 0)
                Assert.Fail($"It ended after {bytes} bytes: {await process.StandardError.ReadToEndAsync(Cancelled)}");
            bytes += count;
            lines -= block.AsSpan(0, count).Count((byte)'\n');
        }
        return bytes;
    }

    private static async Task CloseAndEndAsync(Process process)
    {
        process.StandardOutput.Close();
        await LightQTool.EndAsync(process);
        Assert.Equal((OutputClosed, ""), (process.ExitCode, await process.StandardError.ReadToEndAsync(Cancelled)));
    }

    /// <summary>
    /// The group gets that message next, as one that was given back and not lost: what came before does not count as a
    /// delivery.
    /// </summary>
    private static async Task AssertNextAsync(LightQClient client, long offset)
    {
        await using IAsyncEnumerator<Message> messages = client
            .ConsumeAsync("t", new ConsumeOptions { Group = "g", SettleMode = SettleMode.Explicit })
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await messages.MoveNextAsync());
        Assert.Equal((offset, 1), (messages.Current.Offset, messages.Current.DeliveryCount));
    }

    private static async Task<GroupPartitionInfo> GroupAsync(LightQClient client) =>
        Assert.Single((await client.Groups.GetAsync("t", "g", Cancelled)).Partitions);
}
