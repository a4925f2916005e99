using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using LightQ.Cli.Doctor;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.IntegrationTests.Tls;
using LightQ.Server;
using LightQ.Server.Diagnosis;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq doctor</c> before a start, and beside a running broker.</summary>
public sealed class DoctorTests
{
    private static readonly string[] Results = ["ok", "warning", "failed"];

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Beside_a_running_broker_its_ports_are_its_own_and_the_login_is_shown()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        LightQServerOptions told = LightQServerOptions.InProcess with
        {
            DataDirectory = server.Directory,
            DataPort = server.DataPort,
            ControlPort = server.ControlPort,
            WebPort = server.WebPort,
        };
        LightQClientOptions admin = LightQClientOptions.Parse(server.ConnectionString) with
        {
            User = "admin",
            Password = server.AdminPassword,
        };
        List<Finding> findings = await new DoctorJob(told, admin, OutputFormat.Table).FindAsync();
        Assert.DoesNotContain(findings, f => f.Result == CheckResult.Failed);
        Assert.DoesNotContain(
            findings,
            f => (f.Found + f.Fix).Contains(server.AdminPassword, StringComparison.Ordinal)
        );
        Assert.Contains(
            "a broker works in the data directory",
            Of(findings, "control port").Found,
            StringComparison.Ordinal
        );
        Assert.Equal("logged in as admin, who may do everything", Of(findings, "broker's control plane").Found);
        Assert.Equal(CheckResult.Ok, Of(findings, "broker's version").Result);

        findings = await new DoctorJob(told, admin with { Password = "wrong" }, OutputFormat.Table).FindAsync();
        Assert.Equal(CheckResult.Failed, Of(findings, "broker's control plane").Result);
        Assert.Equal(CheckResult.Failed, Of(findings, "broker's data plane").Result);
        Assert.Equal(CheckResult.Ok, Of(findings, "broker's data port").Result);
    }

    [Fact]
    public async Task A_port_that_another_program_has_fails_and_so_does_a_broker_that_is_not_there()
    {
        using var directory = new TemporaryDirectory();
        using var other = new TcpListener(IPAddress.Loopback, 0);
        other.Start();
        int taken = ((IPEndPoint)other.LocalEndpoint).Port;
        LightQServerOptions told = LightQServerOptions.InProcess with
        {
            DataDirectory = directory.Path,
            WebPort = taken,
        };
        List<Finding> findings = await new DoctorJob(
            told,
            LightQClientOptions.Parse("lightq://127.0.0.1:1?control=1"),
            OutputFormat.Table
        ).FindAsync();
        Finding port = Of(findings, "web port");
        Assert.Equal(CheckResult.Failed, port.Result);
        Assert.Contains($"Port {taken} is in use", port.Found, StringComparison.Ordinal);
        Assert.Equal(CheckResult.Failed, Of(findings, "broker's data port").Result);
    }

    [Fact]
    public async Task A_broker_with_TLS_that_is_looked_at_logs_no_handshake_that_failed()
    {
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        var told = LightQServerOptions.InProcess with { DataDirectory = server.Directory };
        List<Finding> findings = await new DoctorJob(told, files.ClientOptions(server), OutputFormat.Table).FindAsync();
        Assert.NotEqual(CheckResult.Failed, Of(findings, "broker's certificate").Result);
        Assert.Equal(CheckResult.Ok, Of(findings, "broker's data plane").Result);
        await server.RestartAsync(); // Whatever it had to say of them is said.
        Assert.DoesNotContain(server.Log.Lines, l => l.Message.Contains("was refused", StringComparison.Ordinal));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Certificates_that_end_have_ended_or_have_another_key_are_told_on_both_sides()
    {
        FaultRun.RequireTier("It takes seconds.");
        using var files = new TlsFiles(a => a.IssueServer(lastDay: 90));
        using var soon = new TlsFiles(a => a.IssueServer(firstDay: -80, lastDay: 5));
        using var ended = new TlsFiles(a => a.IssueServer(firstDay: -10, lastDay: -1));
        Assert.Equal(CheckResult.Ok, Certificate(files.Options).Result);
        Assert.Equal(CheckResult.Warning, Certificate(soon.Options).Result);
        Assert.Equal(CheckResult.Failed, Certificate(ended.Options).Result);
        using var nameless = new TlsFiles(a => a.IssueServer(names: [], lastDay: 90));
        Assert.EndsWith(
            "has no subject alternative name",
            Certificate(nameless.Options).Found,
            StringComparison.Ordinal
        );
        Assert.Equal(CheckResult.Failed, Certificate(files.Options with { KeyFile = soon.KeyFile }).Result);
        Assert.Equal(CheckResult.Failed, Certificate(files.Options with { KeyFile = files.KeyFile + ".gone" }).Result);
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(files.KeyFile, (UnixFileMode)0b110_100_100);
            Assert.Equal($"chmod 600 '{files.KeyFile}'", Of(Check(files.Options), "secret file").Fix);
            File.SetUnixFileMode(files.KeyFile, (UnixFileMode)0b110_000_000);
            Assert.Equal(CheckResult.Ok, Of(Check(files.Options), "secret file").Result);
        }

        await using TestServer server = await soon.StartServerAsync();
        var told = LightQServerOptions.InProcess with { DataDirectory = server.Directory };
        List<Finding> findings = await new DoctorJob(told, soon.ClientOptions(server), OutputFormat.Table).FindAsync();
        Assert.Equal(CheckResult.Warning, Of(findings, "broker's certificate").Result);
        Assert.Equal(CheckResult.Ok, Of(findings, "broker's data plane").Result);
        findings = await new DoctorJob(
            told,
            soon.ClientOptions(server) with
            {
                CertificateAuthorityFile = files.CaFile,
            },
            OutputFormat.Table
        ).FindAsync();
        Assert.Equal(CheckResult.Failed, Of(findings, "broker's data plane").Result);

        static List<Finding> Check(TlsOptions tls) =>
            [
                .. new ServerChecks(LightQServerOptions.InProcess with { Tls = tls }, TimeProvider.System).Run(
                    isInUse: false
                ),
            ];
        static Finding Certificate(TlsOptions tls) => Of(Check(tls), "certificate");
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_command_writes_a_table_or_JSON_and_its_exit_code_is_the_worst_result()
    {
        FaultRun.RequireTier("It runs processes.");
        using var directory = new TemporaryDirectory();
        string[] command =
        [
            "doctor",
            "--data",
            directory.File("data"),
            "--data-port",
            "0",
            "--control-port",
            "0",
            "--web-port",
            "0",
        ];
        Task<ToolResult> json = LightQTool.RunAsync(null, [.. command, "--output", "json"]),
            table = LightQTool.RunAsync(null, [.. command, "--bind", "0.0.0.0"]);
        JsonElement view = JsonDocument.Parse((await json).Text).RootElement;
        string[] results =
        [
            .. view.GetProperty("checks").EnumerateArray().Select(c => c.GetProperty("result").GetString()!),
        ];
        int worst = results.Max(r => Array.IndexOf(Results, r));
        Assert.Equal(Results[worst], view.GetProperty("verdict").GetString());
        Assert.Equal(
            worst switch
            {
                0 => 0,
                1 => 4,
                _ => 1,
            },
            (await json).ExitCode
        );
        Assert.All(
            view.GetProperty("checks").EnumerateArray(),
            c => Assert.Equal(c.GetProperty("result").GetString() != "ok", c.TryGetProperty("fix", out _))
        );
        // Open to the network without TLS and a login: the broker would not start.
        Assert.Equal(1, (await table).ExitCode);
        Assert.Contains("there is neither TLS nor a login", (await table).Text, StringComparison.Ordinal);
        Assert.DoesNotContain('\u001b', (await table).Text); // Colours are for terminals.
        Assert.False(Directory.Exists(directory.File("data")));
    }

    [Fact]
    public async Task A_broker_alone_is_looked_at_where_no_setting_is_given()
    {
        await using TestServer server = await TestServer.StartAsync();
        ToolResult result = await LightQTool.RunAsync(
            null,
            ["doctor", "--server", server.ConnectionString, "--output", "json"]
        );
        JsonElement view = JsonDocument.Parse(result.Text).RootElement;
        Assert.All(
            view.GetProperty("checks").EnumerateArray(),
            c => Assert.StartsWith("broker's ", c.GetProperty("check").GetString(), StringComparison.Ordinal)
        );
        Assert.NotEqual("failed", view.GetProperty("verdict").GetString());
    }

    private static Finding Of(List<Finding> findings, string check) => Assert.Single(findings, f => f.Check == check);
}
