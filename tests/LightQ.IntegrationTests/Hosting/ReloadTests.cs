using System.Text.Json;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Tls;
using LightQ.Protocol.Frames;
using LightQ.Server;
using LightQ.Server.Audit;
using LightQ.Server.Configuration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>A broker that reads its configuration file again while it runs.</summary>
public sealed class ReloadTests : IDisposable
{
    private readonly TemporaryDirectory _files = new();

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private string ConfigurationFile => Path.Combine(_files.Path, "lightq.json");

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task What_is_live_is_in_force_at_once_and_the_rest_is_said_to_need_a_restart()
    {
        await using TestServer server = await StartAsync(("Broker:MaxTopics", "2"), ("Broker:JournalWriters", "2"));
        await using var client = new LightQClient(server.ConnectionString);
        for (int i = 0; i < 2; i++)
            await client.Topics.CreateAsync(new TopicSpec($"t{i}") { Kind = TopicKind.Transient }, Cancelled);
        Assert.Equal(
            ErrorCode.ResourceExhausted,
            (
                await Assert.ThrowsAsync<LightQException>(() =>
                    client.Topics.CreateAsync(new TopicSpec("t2") { Kind = TopicKind.Transient }, Cancelled)
                )
            ).Code
        );

        Write(("Broker:MaxTopics", "3"), ("Broker:JournalWriters", "3"));
        ReloadResult result = await client.Operations.ReloadAsync(Cancelled);

        Assert.Null(result.Refusal);
        Assert.Null(result.Certificate);
        Assert.Equal(
            [
                new ReloadedSetting("Broker:JournalWriters", "2", "3", false),
                new ReloadedSetting("Broker:MaxTopics", "2", "3", true),
            ],
            result.Settings
        );
        Assert.Contains(
            server.Log.Lines,
            l => l.Message == "The configuration was read again: Broker:MaxTopics 2 to 3, applied"
        );
        await client.Topics.CreateAsync(new TopicSpec("t2") { Kind = TopicKind.Transient }, Cancelled);
        Assert.Equal(
            [new ReloadedSetting("Broker:JournalWriters", "2", "3", false)],
            (await client.Operations.ReloadAsync(Cancelled)).Settings
        );
        await server.Server.StopAsync();
        var lines = new List<AuditLine>();
        AuditVerifier.Verify(server.Directory, read: lines.Add);
        Assert.Equal(
            "Broker:JournalWriters 2 to 3 needs a restart, Broker:MaxTopics 2 to 3",
            lines.First(l => l.Event == "configuration-reloaded").Detail
        );
    }

    [Theory]
    [InlineData("Broker:MaxTopics", "many", "Broker:MaxTopics is 'many'")]
    [InlineData("Broker:MaxTopic", "7", "did you mean Broker:MaxTopics?")]
    [InlineData("Tls:KeyFile", "/nowhere/key.pem", "Tls:KeyFile is given without Tls:CertificateFile")]
    public async Task A_configuration_that_is_not_allowed_changes_nothing(string key, string value, string why)
    {
        await using TestServer server = await StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        LightQServerOptions before = server.Server.Limits.Options;
        Write(("DataPlane:MaxStreams", "5"), (key, value));
        ReloadResult result = await client.Operations.ReloadAsync(Cancelled);
        Assert.Contains(why, result.Refusal, StringComparison.Ordinal);
        Assert.Empty(result.Settings);
        Assert.Same(before, server.Server.Limits.Options);
        Assert.DoesNotContain(_files.Path, result.Refusal, StringComparison.Ordinal);
        string told = Assert.Single(server.Log.Errors);
        Assert.Contains("is refused, nothing has changed: ", told, StringComparison.Ordinal);
        Assert.Contains(why, told, StringComparison.Ordinal);
        await server.Server.StopAsync();
        var lines = new List<AuditLine>();
        AuditVerifier.Verify(server.Directory, read: lines.Add);
        Assert.Equal($"refused: {result.Refusal}", lines.Single(l => l.Event == "configuration-reloaded").Detail);
    }

    [Fact]
    public async Task From_the_moment_a_login_is_required_anonymous_clients_are_gone()
    {
        await using TestServer server = await StartAsync();
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        Write(("RequireAuth", "true"));
        ReloadReport report = await server.Server.ReloadAsync();
        Assert.True(Assert.Single(report.Settings).IsApplied);
        (FrameHeader header, byte[] body) = await client.ReadAsync();
        Assert.Equal(
            (FrameType.Error, ErrorCode.Unauthenticated),
            (header.Type, FrameCodec.Read<ErrorFrame>(body).Code)
        );
    }

    [Fact]
    public async Task The_certificate_is_read_again_and_one_that_cannot_be_used_leaves_the_one_before()
    {
        using var files = new TlsFiles();
        await using TestServer server = await StartAsync(
            ("Tls:CertificateFile", files.CertificateFile),
            ("Tls:KeyFile", files.KeyFile)
        );
        string before = await TlsReloadTests.ShownAsync(server.DataPort);
        using TestCertificate next = files.Authority.IssueServer();
        next.Write(Path.GetDirectoryName(files.CertificateFile)!, "broker");

        Assert.Null((await server.Server.ReloadAsync()).CertificateProblem);
        Assert.NotEqual(before, next.Certificate.Thumbprint);
        Assert.Equal(next.Certificate.Thumbprint, await TlsReloadTests.ShownAsync(server.DataPort));

        File.WriteAllText(files.KeyFile, "no key");
        await using var client = new LightQClient(files.ClientOptions(server));
        ReloadResult result = await client.Operations.ReloadAsync(Cancelled);
        Assert.Equal(
            (false, $"Tls:KeyFile: '{Path.GetFileName(files.KeyFile)}' holds no private key in PEM."),
            (result.Certificate, result.CertificateProblem)
        );
        // The broker's own log does name the path.
        Assert.Contains(server.Log.Errors, e => e.Contains(files.KeyFile, StringComparison.Ordinal));
        Assert.Equal(next.Certificate.Thumbprint, await TlsReloadTests.ShownAsync(server.DataPort));
    }

    [Fact]
    public async Task Other_certificate_files_that_the_next_start_could_not_use_are_refused()
    {
        using var files = new TlsFiles();
        (string, string) certificate = ("Tls:CertificateFile", files.CertificateFile);
        await using TestServer server = await StartAsync(certificate, ("Tls:KeyFile", files.KeyFile));
        Write(certificate, ("Tls:KeyFile", files.CertificateFile));
        Assert.Equal(
            $"Tls:KeyFile: '{Path.GetFileName(files.CertificateFile)}' holds no private key in PEM.",
            (await server.Server.ReloadAsync()).Refusal
        );
        Write(certificate, ("Tls:KeyFile", files.KeyFile), ("Tls:ClientCaFile", "missing.crt"));
        Assert.Equal("Tls:ClientCaFile: 'missing.crt' does not exist.", (await server.Server.ReloadAsync()).Refusal);
        Write(certificate, ("Tls:KeyFile", files.KeyFile), ("Tls:ClientCaFile", files.CaFile));
        ReloadReport report = await server.Server.ReloadAsync();
        Assert.Null(report.Refusal);
        Assert.All(report.Settings, s => Assert.False(s.IsApplied));
    }

    [Fact]
    public async Task A_broker_without_a_configuration_says_so()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.Operations.ReloadAsync(Cancelled)
        );
        Assert.Equal(ErrorCode.NotSupported, refused.Code);
    }

    private async Task<TestServer> StartAsync(params (string Key, string Value)[] settings)
    {
        Write(settings);
        ServerConfiguration Load() =>
            ServerConfiguration.Load(
                new Dictionary<string, string>
                {
                    ["--data"] = Path.Combine(_files.Path, "data"),
                    ["--data-port"] = "0",
                    ["--control-port"] = "0",
                    ["--web-port"] = "0",
                },
                ConfigurationFile,
                new Dictionary<string, string>()
            );
        TestServer server = await TestServer.StartAsync(Load().Options);
        server.Server.ConfigurationSource = Load;
        return server;
    }

    private void Write(params (string Key, string Value)[] settings) =>
        File.WriteAllText(ConfigurationFile, JsonSerializer.Serialize(settings.ToDictionary(s => s.Key, s => s.Value)));
}
