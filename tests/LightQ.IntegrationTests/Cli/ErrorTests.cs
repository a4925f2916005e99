using System.Globalization;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>What goes wrong is said in one line on standard error, with an exit code a script can rely on.</summary>
public sealed class ErrorTests
{
    private const int Failed = 1;
    private const int Usage = 2;
    private const int Unavailable = 69;
    private const int Denied = 77;
    private const int Configuration = 78;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task An_unknown_topic_fails_every_command_that_names_it()
    {
        FaultRun.RequireTier("It starts a process for each command.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);

        (await LightQTool.RunAsync(server.Url, "pub", "nobody", "x")).FailedWith(Failed, "nobody");
        (await LightQTool.RunAsync(server.Url, "sub", "nobody")).FailedWith(Failed, "nobody");
        (await LightQTool.RunAsync(server.Url, "topic", "show", "nobody")).FailedWith(Failed, "nobody");
        (await LightQTool.RunAsync(server.Url, "topic", "delete", "nobody")).FailedWith(Failed, "nobody");
        (await LightQTool.RunAsync(server.Url, "stats", "nobody")).FailedWith(Failed, "nobody");
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_wrong_port_of_each_plane_is_told_apart_from_a_broker()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);

        // The broker itself says which port it was and which is the right one.
        foreach (
            (int port, string name) in new[]
            {
                (server.ControlPort, "control port (gRPC)"),
                (server.WebPort, "web port (HTTP/1.1)"),
            }
        )
        {
            (await LightQTool.RunAsync($"lightq://127.0.0.1:{port}", "pub", "t", "x")).FailedWith(
                Unavailable,
                $"Port {port} is the broker's {name}; its data port is {server.DataPort}."
            );
        }
        // A port that closes at once may be seen to go before what it has said is read; the advice is the same.
        foreach (int port in new[] { server.DataPort, server.WebPort })
        {
            (await LightQTool.RunAsync($"lightq://127.0.0.1?control={port}", "topic", "list")).FailedWith(
                Unavailable,
                "is it the right port, and is TLS on at both ends or at neither (tls=true)?"
            );
        }
        Assert.Equal(0, (await LightQTool.RunAsync(server.Url, "topic", "list")).ExitCode);
    }

    [Fact]
    public async Task Nobody_there_is_unavailable()
    {
        const string Nowhere = "lightq://127.0.0.1:1?control=1";
        (await LightQTool.RunAsync(Nowhere, "pub", "t", "x")).FailedWith(
            Unavailable,
            "The connection to lightq://127.0.0.1:1?control=1 failed: Connection refused. "
        );
        (await LightQTool.RunAsync(Nowhere, "topic", "list")).FailedWith(Unavailable, "127.0.0.1:1");
        (await LightQTool.RunAsync(Nowhere, "stats")).FailedWith(Unavailable, "127.0.0.1:1");
    }

    [Fact]
    public async Task A_port_in_use_and_a_data_directory_in_use_are_unavailable()
    {
        using var directory = new TemporaryDirectory();
        string data = Path.Combine(directory.Path, "data"),
            other = Path.Combine(directory.Path, "other");
        await using ToolServer server = await ToolServer.StartAsync(data);
        string port = server.DataPort.ToString(CultureInfo.InvariantCulture);

        (
            await LightQTool.RunAsync(
                null,
                "server",
                "--data",
                other,
                "--data-port",
                port,
                "--control-port",
                "0",
                "--web-port",
                "0"
            )
        ).FailedWith(Unavailable, port);
        (
            await LightQTool.RunAsync(
                null,
                "server",
                "--data",
                data,
                "--data-port",
                "0",
                "--control-port",
                "0",
                "--web-port",
                "0"
            )
        ).FailedWith(Unavailable, data);
    }

    [Fact]
    public async Task A_data_directory_that_cannot_be_written_is_refused()
    {
        Assert.SkipWhen(Environment.UserName == "root", "root may write everywhere");

        (
            await LightQTool.RunAsync(
                null,
                "server",
                "--data",
                "/proc/lightq",
                "--data-port",
                "0",
                "--control-port",
                "0",
                "--web-port",
                "0"
            )
        ).FailedWith(Denied, "/proc/lightq");
    }

    [Theory]
    [InlineData("--bind", "0.0.0.0")]
    [InlineData("--data-port", "99999")]
    [InlineData("--data-port", "many")]
    [InlineData("--bind", "somewhere")]
    [InlineData("--config", "/nowhere/lightq.json")]
    public async Task A_setting_that_is_not_allowed_is_a_configuration_error(string flag, string value) =>
        (await LightQTool.RunAsync(null, "server", "--data", "/tmp/unused", flag, value)).FailedWith(
            Configuration,
            value
        );

    [Fact]
    public async Task A_message_that_is_too_large_comes_with_what_can_be_done_for_a_topic_that_exists()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", maxMessageBytes: 1024);

        (await LightQTool.RunAsync(server.ConnectionString, "pub", "t", new string('x', 2000))).FailedWith(
            Failed,
            "set when it is made and cannot be changed: send less in one message, or make another topic with 'lightq "
                + "topic create NAME --max-message BYTES'"
        );
    }

    [Fact]
    public async Task The_name_alone_prints_the_help()
    {
        ToolResult help = (await LightQTool.RunAsync(null)).Succeeded();

        Assert.StartsWith("Description:", help.Text, StringComparison.Ordinal);
        Assert.Contains("\n  topic ", help.Text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("tpoic", "topic")]
    [InlineData("publish", "pub")]
    [InlineData("subscribe", "sub")]
    public async Task An_unknown_command_suggests_the_nearest(string typed, string meant) =>
        (await LightQTool.RunAsync(null, typed, "list")).FailedWith(
            Usage,
            $"'{typed}' is not a command of 'lightq'. Did you mean '{meant}'?"
        );

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_broker_is_found_by_its_name_or_address_alone()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);

        (
            await LightQTool.RunAsync(
                null,
                "topic",
                "create",
                "t",
                "--server",
                $"localhost?control={server.ControlPort}"
            )
        ).Succeeded();
        (await LightQTool.RunAsync($"127.0.0.1:{server.DataPort}", "pub", "t", "hello")).Succeeded();
        (await LightQTool.RunAsync("::1", "pub", "t", "hello")).FailedWith(Unavailable, "lightq://[::1]:5700");
    }

    [Fact]
    public async Task Wrong_arguments_are_usage()
    {
        (await LightQTool.RunAsync(null, "pub")).FailedWith(Usage, "--help");
        (await LightQTool.RunAsync("http://127.0.0.1", "topic", "list")).FailedWith(Usage, "lightq://");
        (await LightQTool.RunAsync(null, "pub", "t", "--file", "/nowhere/file")).FailedWith(
            Usage,
            "The file '/nowhere/file' that --file names cannot be read"
        );
        (await LightQTool.RunAsync(null, "user", "create", "alice", "--password-file", "/nowhere/file")).FailedWith(
            Usage,
            "The file '/nowhere/file' that --password-file names cannot be read"
        );
    }

    [Fact]
    public async Task Print_config_shows_values_and_where_they_come_from()
    {
        ToolResult shown = (
            await LightQTool.RunAsync(null, "server", "--print-config", "--data-port", "6000")
        ).Succeeded();

        Assert.Matches("DataPort +6000 +--data-port", shown.Text);
    }
}
