using System.Text.Json;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using LightQ.Grpc.AspNetCore.Reflection.V1;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Grpc;

/// <summary>Clients that LightQ did not make: what they can do, any program with a gRPC library can.</summary>
public sealed class StockClientTests
{
    [Fact]
    public async Task Node_calls_the_control_plane()
    {
        string folder = StockClient.FolderOf("node");
        Assert.SkipUnless(await StockClient.WorksAsync("node", "--version"), "There is no node on this machine.");
        Assert.SkipUnless(
            Directory.Exists(Path.Combine(folder, "node_modules")) || Environment.GetEnvironmentVariable("LIGHTQ_NODE_MODULES") is { Length: > 0 },
            $"The client's packages are not installed: run 'npm ci' in {folder}, or set LIGHTQ_NODE_MODULES to a node_modules folder that has them.");
        await using TestServer server = await TestServer.StartAsync();
        string output = await StockClient.OutputOfAsync(
            "node", Path.Combine(folder, "client.js"), $"127.0.0.1:{server.ControlPort}", Path.Combine(StockClient.SourceTree, "proto"));
        Check(output, server);
    }

    [Fact]
    public async Task Python_calls_the_control_plane()
    {
        // Debian's python3-grpcio belongs to Debian's python, which another in the PATH may hide.
        string python = File.Exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
        Assert.SkipUnless(await StockClient.WorksAsync(python, "-c", "import grpc, google.protobuf"), $"{python} has no grpc: install python3-grpcio and python3-protobuf.");
        await using TestServer server = await TestServer.StartAsync();
        using var directory = new TemporaryDirectory();
        string descriptors = directory.File("descriptors");
        await File.WriteAllBytesAsync(descriptors, DescriptorsOf(TopicsReflection.Descriptor, StatsReflection.Descriptor, ReflectionReflection.Descriptor), TestContext.Current.CancellationToken);
        string output = await StockClient.OutputOfAsync(python, Path.Combine(StockClient.FolderOf("python"), "client.py"), $"127.0.0.1:{server.ControlPort}", descriptors);
        Check(output, server);
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
        Assert.Contains("'../stock' is not a topic name", bad.GetProperty("message").GetString(), StringComparison.Ordinal);

        Assert.Equal(["stock", "stock", "stock"], root.GetProperty("readings").EnumerateArray().Select(r => r.GetProperty("topic").GetString()));
        string[] services = [.. root.GetProperty("services").EnumerateArray().Select(s => s.GetString()!)];
        Assert.Contains("lightq.control.v1.Topics", services);
        Assert.Contains("grpc.health.v1.Health", services);
    }

    /// <summary>The files and what they import, each after what it needs.</summary>
    private static byte[] DescriptorsOf(params FileDescriptor[] files)
    {
        var ordered = new List<FileDescriptor>();
        foreach (FileDescriptor file in files)
            Add(file);
        return new FileDescriptorSet { File = { ordered.Select(f => f.ToProto()) } }.ToByteArray();

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
