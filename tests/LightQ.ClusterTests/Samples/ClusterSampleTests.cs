using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using LightQ.Server;
using LightQ.Server.Configuration;
using LightQ.Server.Hosting;
using LightQ.Tests.Shared;
using NATS.NKeys;
using Xunit;

namespace LightQ.ClusterTests.Samples;

/// <summary>The files of samples/cluster: LightQ and nats-server take them, and they agree with each other.</summary>
public sealed class ClusterSampleTests : IDisposable
{
    private static readonly string Folder = Path.Combine(SourceFolder(), "samples", "cluster");

    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Each_broker_of_the_compose_file_starts_with_its_settings_and_is_reached_where_it_says()
    {
        Dictionary<string, string> brokers = ServicesOf("lq");
        Assert.Equal(["lq1", "lq2", "lq3"], brokers.Keys.Order());
        foreach ((string name, string text) in brokers)
        {
            LightQServerOptions options = Load("lightq.json", EnvironmentOf(text));
            Assert.Equal(name, options.Cluster.Node);
            Assert.Equal($"{name}:{options.DataPort}", options.Cluster.AdvertiseData);
            Assert.Equal($"{name}:{options.ControlPort}", options.Cluster.AdvertiseControl);
            int[] published =
            [
                .. Regex
                    .Matches(text, @"""127\.0\.0\.1:(\d+):(\d+)""")
                    .Select(port =>
                    {
                        Assert.Equal(port.Groups[1].Value, port.Groups[2].Value);
                        return int.Parse(port.Groups[1].Value, CultureInfo.InvariantCulture);
                    }),
            ];
            Assert.Equal([options.DataPort, options.ControlPort, options.WebPort], published);
        }
        string readme = Read("README.md");
        string[] data = [.. brokers.Select(b => $"{b.Key}:{EnvironmentOf(b.Value)["LIGHTQ__DataPort"]}")],
            control = [.. brokers.Select(b => EnvironmentOf(b.Value)["LIGHTQ__ControlPort"])];
        Assert.Contains(
            $"lightq://admin@{string.Join(',', data)}?control={string.Join(',', control)}",
            readme,
            StringComparison.Ordinal
        );
        Assert.Contains($"127.0.0.1 {string.Join(' ', brokers.Keys)}", readme, StringComparison.Ordinal);
    }

    [Fact]
    public void The_brokers_of_the_compose_file_find_its_servers_which_are_of_a_version_to_use()
    {
        string[] servers = [.. ServicesOf("nats").Keys];
        Assert.Equal(3, servers.Length);
        ClusterOptions cluster = Load("lightq.json", []).Cluster;
        string conf = Read("nats.conf");
        Assert.Equal(string.Join(',', servers.Select(s => $"nats://{s}:{Port("port")}")), cluster.Engine);
        Assert.Equal(string.Join(',', servers.Select(s => $"http://{s}:{Port("http")}")), cluster.Monitoring);
        Assert.Contains(
            $"routes: [ {string.Join(", ", servers.Select(s => $"nats://{s}:6222"))} ]",
            conf,
            StringComparison.Ordinal
        );
        Assert.Contains($"user: {cluster.User},", conf, StringComparison.Ordinal);
        Match image = Regex.Match(Read("compose.yaml"), @"image: nats:([\d.]+)-alpine");
        Assert.True(EngineVersion.Compare(image.Groups[1].Value, EngineVersion.Recommended) >= 0);
        Assert.Equal(
            $"/run/secrets/{Regex.Match(Read("compose.yaml"), @"secrets: \[(.+)\]").Groups[1].Value}",
            cluster.PasswordFile
        );

        string Port(string key) => Regex.Match(conf, $@"^{key}: (\d+)", RegexOptions.Multiline).Groups[1].Value;
    }

    [Fact]
    public void What_the_compose_file_mounts_and_builds_is_there()
    {
        string compose = Read("compose.yaml");
        string[] mounted = [.. Regex.Matches(compose, @"- \./([^:]+):").Select(m => m.Groups[1].Value).Distinct()];
        Assert.Equal(["nats.conf", "lightq.json"], mounted);
        Assert.All(mounted, file => Assert.True(File.Exists(Path.Combine(Folder, file)), file));
        string docker = Regex.Match(compose, "dockerfile: (.+)").Groups[1].Value;
        Assert.True(File.Exists(Path.Combine(SourceFolder(), docker)), docker);
        string[] named = [.. Regex.Matches(compose, "- ([a-z0-9]+):/data").Select(m => m.Groups[1].Value)];
        string declared = compose[compose.IndexOf("\nvolumes:", StringComparison.Ordinal)..];
        Assert.Equal(
            named,
            Regex.Matches(declared, @"^  ([a-z0-9]+):", RegexOptions.Multiline).Select(m => m.Groups[1].Value)
        );
    }

    [Fact]
    public void A_broker_of_systemd_starts_with_its_settings_and_the_units_agree_with_the_files()
    {
        LightQServerOptions options = Load("systemd/lightq.json", []);
        Assert.True(options.Tls.IsEnabled);
        Assert.Equal($"{options.Cluster.Node}:{options.DataPort}", options.Cluster.AdvertiseData);
        Assert.Equal($"{options.Cluster.Node}:{options.ControlPort}", options.Cluster.AdvertiseControl);
        string unit = Read("systemd/nats-server.service"),
            conf = Read("systemd/nats.conf");
        Assert.Contains("nats-server -c /etc/nats/nats.conf\n", unit, StringComparison.Ordinal);
        Assert.StartsWith("# /etc/nats/nats.conf ", conf, StringComparison.Ordinal);
        string state = Regex.Match(unit, "StateDirectory=(.+)").Groups[1].Value;
        Assert.Contains($"store_dir: /var/lib/{state}\n", conf, StringComparison.Ordinal);
        Assert.Contains($"server_name: {options.Cluster.Node}\n", conf, StringComparison.Ordinal);
        Assert.Contains("After=nats-server.service", Read("systemd/lightq-cluster.conf"), StringComparison.Ordinal);
        string readme = Read("README.md");
        Assert.All(
            Directory.EnumerateFiles(Path.Combine(Folder, "systemd")),
            file => Assert.Contains($"`{Path.GetFileName(file)}`", readme, StringComparison.Ordinal)
        );
    }

    [Theory]
    [InlineData("nats.conf")]
    [InlineData("systemd/nats.conf")]
    public async Task A_nats_server_takes_its_configuration(string file)
    {
        string? program = NatsCluster.FindProgram();
        Assert.SkipWhen(program is null, "nats-server is not installed: apt-get install nats-server.");
        using var user = KeyPair.CreatePair(PrefixByte.User);
        using TestAuthority authority = new();
        using TestCertificate certificate = authority.IssueNode("n1");
        certificate.Write(_directory.Path, "server");
        await File.WriteAllTextAsync(_directory.File("ca.crt"), authority.Pem, TestContext.Current.CancellationToken);
        string conf = Read(file)
            .Replace("/etc/nats/", _directory.Path + "/", StringComparison.Ordinal)
            .Replace("UBROKERSPUBLICKEY", user.GetPublicKey(), StringComparison.Ordinal);
        Assert.Equal(file == "nats.conf", !conf.Contains(user.GetPublicKey(), StringComparison.Ordinal));
        const string Sync = "  sync_interval: always";
        Assert.Contains(Sync, conf, StringComparison.Ordinal);
        // Servers before 2.10 do not know it, and such a one is what Debian has.
        if (EngineVersion.Compare(await RunAsync(program!, "-v"), "2.10.0") < 0)
            conf = conf.Replace(Sync, "", StringComparison.Ordinal);
        await File.WriteAllTextAsync(_directory.File("nats.conf"), conf, TestContext.Current.CancellationToken);
        await RunAsync(program!, "-t", "-c", _directory.File("nats.conf"));
    }

    /// <summary>Runs it to its end, and gives what it says last.</summary>
    private static async Task<string> RunAsync(string program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (string name in new[] { "NATS_NAME", "LIGHTQ_NATS_PASSWORD", "OPERATOR_NATS_PASSWORD" })
            start.Environment[name] = "p1";
        using Process process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        string output = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(process.ExitCode == 0, output + await errors);
        return output.Trim().Split(' ')[^1];
    }

    /// <summary>The options of a broker, as it reads and checks them when it starts.</summary>
    private static LightQServerOptions Load(string file, Dictionary<string, string> environment)
    {
        LightQServerOptions options = ServerConfiguration
            .Load(file: Path.Combine(Folder, file), environment: environment)
            .Options;
        StartChecks.Check(options);
        return options;
    }

    /// <summary>The services whose names begin so, with their lines.</summary>
    private static Dictionary<string, string> ServicesOf(string prefix) =>
        Regex
            .Split(Read("compose.yaml"), @"^  (?=[a-z0-9]+:$)", RegexOptions.Multiline)
            .Where(text =>
                text.StartsWith(prefix, StringComparison.Ordinal) && text.Contains("<<:", StringComparison.Ordinal)
            )
            .ToDictionary(text => text[..text.IndexOf(':', StringComparison.Ordinal)]);

    private static Dictionary<string, string> EnvironmentOf(string service) =>
        Regex
            .Matches(service, @"^ +(LIGHTQ__\w+): ""?([^""\n]+)""?$", RegexOptions.Multiline)
            .ToDictionary(m => m.Groups[1].Value, m => m.Groups[2].Value);

    private static string Read(string file) => File.ReadAllText(Path.Combine(Folder, file)).ReplaceLineEndings("\n");

    private static string SourceFolder()
    {
        string folder = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(folder, "LightQ.sln")))
            folder = Path.GetDirectoryName(folder)!;
        return folder;
    }
}
