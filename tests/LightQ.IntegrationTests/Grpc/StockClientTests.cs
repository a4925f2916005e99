using System.Text.Json;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Reflection.V1;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.Messages;
using LightQ.IntegrationTests.Tls;
using LightQ.Protocol.Control;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Grpc;

/// <summary>Clients that LightQ did not make: what they can do, any program with a gRPC library can.</summary>
public sealed class StockClientTests
{
    [Fact]
    public async Task Node_calls_the_control_plane()
    {
        await StockClient.RequireNodeAsync();
        await using TestServer server = await TestServer.StartAsync();
        string output = await StockClient.OutputOfAsync(
            "node",
            Path.Combine(StockClient.FolderOf("node"), "client.js"),
            $"127.0.0.1:{server.ControlPort}",
            Path.Combine(StockClient.SourceTree, "proto")
        );
        Check(output, server);
    }

    [Fact]
    public async Task Python_calls_the_control_plane()
    {
        await StockClient.RequirePythonAsync();
        await using TestServer server = await TestServer.StartAsync();
        using var directory = new TemporaryDirectory();
        string descriptors = directory.File("descriptors");
        await WriteDescriptorsAsync(
            descriptors,
            TopicsReflection.Descriptor,
            StatsReflection.Descriptor,
            ReflectionReflection.Descriptor
        );
        string output = await StockClient.OutputOfAsync(
            StockClient.Python,
            Path.Combine(StockClient.FolderOf("python"), "client.py"),
            $"127.0.0.1:{server.ControlPort}",
            descriptors
        );
        Check(output, server);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Node_calls_the_control_plane_over_TLS_with_a_CA_file(bool selfSigned)
    {
        await StockClient.RequireNodeAsync();
        using var files = new TlsFiles();
        await using TestServer server = await StartTlsAsync(files, selfSigned);
        string output = await StockClient.OutputOfAsync(
            "node",
            Path.Combine(StockClient.FolderOf("node"), "client.js"),
            $"localhost:{server.ControlPort}",
            Path.Combine(StockClient.SourceTree, "proto"),
            CaOf(server, files, selfSigned)
        );
        Check(output, server);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Python_calls_the_control_plane_over_TLS_with_a_CA_file(bool selfSigned)
    {
        await StockClient.RequirePythonAsync();
        using var files = new TlsFiles();
        await using TestServer server = await StartTlsAsync(files, selfSigned);
        string descriptors = files.Write("descriptors", "");
        await WriteDescriptorsAsync(
            descriptors,
            TopicsReflection.Descriptor,
            StatsReflection.Descriptor,
            ReflectionReflection.Descriptor
        );
        string output = await StockClient.OutputOfAsync(
            StockClient.Python,
            Path.Combine(StockClient.FolderOf("python"), "client.py"),
            $"localhost:{server.ControlPort}",
            descriptors,
            CaOf(server, files, selfSigned)
        );
        Check(output, server);
    }

    [Fact]
    public async Task The_samples_for_Node_publish_and_work()
    {
        await StockClient.RequireNodeAsync();
        await CheckSamplesAsync(
            (program, arguments) =>
                StockClient.OutputOfAsync(
                    "node",
                    [Path.Combine(StockClient.SourceTree, "samples", "nodejs", $"{program}.js"), .. arguments]
                )
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_samples_for_Python_publish_and_work()
    {
        FaultRun.RequireTier("Four processes of Python take some seconds.");
        await StockClient.RequirePythonAsync();
        using var directory = new TemporaryDirectory();
        string descriptors = directory.File("descriptors");
        await WriteDescriptorsAsync(
            descriptors,
            TopicsReflection.Descriptor,
            GroupsReflection.Descriptor,
            MessagesReflection.Descriptor
        );
        string stubs = Path.Combine(StockClient.FolderOf("python"), "with_stubs.py");
        await CheckSamplesAsync(
            (program, arguments) =>
                StockClient.OutputOfAsync(
                    StockClient.Python,
                    [
                        stubs,
                        descriptors,
                        Path.Combine(StockClient.SourceTree, "samples", "python", $"{program}.py"),
                        .. arguments,
                    ]
                )
        );
    }

    private static Task<TestServer> StartTlsAsync(TlsFiles files, bool selfSigned) =>
        selfSigned
            ? TestServer.StartAsync(o => o with { Tls = new() { SelfSigned = true } })
            : files.StartServerAsync();

    private static string CaOf(TestServer server, TlsFiles files, bool selfSigned) =>
        selfSigned ? Path.Combine(server.Directory, "tls-self-signed.crt") : files.CaFile;

    /// <summary>
    /// Two workers share what a publisher published; what is not an order is given up; and all of it is settled.
    /// </summary>
    private static async Task CheckSamplesAsync(Func<string, string[], Task<string>> runAsync)
    {
        await using TestServer server = await TestServer.StartAsync();
        string address = $"127.0.0.1:{server.ControlPort}";
        Assert.Equal("30 orders stored in orders", (await runAsync("publisher", ["30", "orders", address])).Trim());
        await server.Control.CallAsync<PublishRequest, PublishResponse>(
            "Publish",
            new() { Topic = "orders", Messages = { PublishStream.Text("not an order") } }
        );

        string[] outputs = await Task.WhenAll(
            runAsync("worker", ["15", "orders", "billing", address]),
            runAsync("worker", ["15", "orders", "billing", address])
        );
        string last = await runAsync("worker", ["1", "orders", "billing", address]);
        string[] billed =
        [
            .. outputs
                .Append(last)
                .SelectMany(o => o.Split('\n', StringSplitOptions.RemoveEmptyEntries))
                .Select(l => l.Trim()),
        ];
        Assert.Equal(
            Enumerable.Range(0, 30).Select(i => $"order {i} of customer-{i % 5} billed").Order(),
            billed.Order()
        );

        await Eventually.TrueAsync(
            () =>
                server.Broker.TryGetTopic("orders.dead", out LightQ.Broker.Topics.Topic? dead)
                && dead.Partitions[0].Log.ReadableOffset == 1,
            TimeSpan.FromSeconds(30),
            () => "no dead letter"
        );
        Group group = (
            await server.Control.CallAsync<DescribeGroupRequest, DescribeGroupResponse>(
                "DescribeGroup",
                new() { Topic = "orders", Group = "billing" }
            )
        ).Group;
        Assert.Equal((0ul, 0u), (group.Lag, group.MembersCount));
    }

    private static void Check(string output, TestServer server)
    {
        using JsonDocument seen = JsonDocument.Parse(output);
        JsonElement root = seen.RootElement;
        Assert.Equal("stock", root.GetProperty("created").GetString());
        Assert.Equal("TOPIC_KIND_TRANSIENT", root.GetProperty("kind").GetString());
        Assert.True(server.Broker.TryGetTopic("stock", out _));

        JsonElement bad = root.GetProperty("bad");
        Assert.Equal("INVALID_ARGUMENT", bad.GetProperty("status").GetString());
        Assert.Equal("InvalidArgument", bad.GetProperty("code").GetString());
        Assert.Contains(
            "'../stock' is not a topic name",
            bad.GetProperty("message").GetString(),
            StringComparison.Ordinal
        );

        Assert.Equal(
            ["stock", "stock", "stock"],
            root.GetProperty("readings").EnumerateArray().Select(r => r.GetProperty("topic").GetString())
        );
        string[] services = [.. root.GetProperty("services").EnumerateArray().Select(s => s.GetString()!)];
        Assert.Contains("lightq.control.v1.Topics", services);
        Assert.Contains("grpc.health.v1.Health", services);
    }

    /// <summary>Writes the files and what they import, each after what it needs.</summary>
    private static Task WriteDescriptorsAsync(string path, params FileDescriptor[] files)
    {
        var ordered = new List<FileDescriptor>();
        foreach (FileDescriptor file in files)
            Add(file);
        return File.WriteAllBytesAsync(
            path,
            new FileDescriptorSet { File = { ordered.Select(f => f.ToProto()) } }.ToByteArray(),
            TestContext.Current.CancellationToken
        );

        void Add(FileDescriptor file)
        {
            if (ordered.Contains(file))
                return;
            foreach (FileDescriptor dependency in file.Dependencies)
                Add(dependency);
            ordered.Add(file);
        }
    }
}
