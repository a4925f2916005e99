using System.Net;
using System.Net.Sockets;
using LightQ.Broker.Topics;
using LightQ.IntegrationTests.Cli;
using LightQ.Server;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

public sealed class StartTests
{
    [Theory]
    [InlineData("data")]
    [InlineData("control")]
    [InlineData("web")]
    public async Task A_port_in_use_is_named_with_the_flag_that_chooses_another(string which)
    {
        int port = FreePorts.Find(1);
        using var taken = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        taken.Bind(new IPEndPoint(IPAddress.Loopback, port));
        taken.Listen();
        using var folder = new TemporaryDirectory();
        LightQServerOptions options = LightQServerOptions.InProcess with { DataDirectory = folder.Path };
        options = which switch
        {
            "data" => options with { DataPort = port },
            "control" => options with { ControlPort = port },
            _ => options with { WebPort = port },
        };
        ServerStartException error = await FailsAsync(options, ServerStartFailure.PortInUse, 69);
        Assert.Equal($"Port {port} is in use: stop the other program or choose --{which}-port.", error.Message);

        // What had been begun was undone: the directory is free, and the other ports are.
        taken.Dispose();
        await using LightQServer server = await StartAsync(options);
    }

    [Fact]
    public async Task A_data_directory_in_use_is_named()
    {
        await using TestServer server = await TestServer.StartAsync();
        ServerStartException error = await FailsAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = server.Directory,
            },
            ServerStartFailure.DataDirectory,
            69
        );
        Assert.Contains(server.Directory, error.Message, StringComparison.Ordinal);
        Assert.Contains("in use by another broker", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_data_directory_whose_catalog_is_gone_is_refused_and_left_alone()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders", TopicKind.Durable);
        string catalog = Path.Combine(server.Directory, "catalog"),
            aside = Path.Combine(server.Directory, "aside");
        await server.RestartAsync(() =>
        {
            Directory.Move(catalog, aside);
            ServerStartException error = FailsAsync(
                    LightQServerOptions.InProcess with
                    {
                        DataDirectory = server.Directory,
                    },
                    ServerStartFailure.DataDirectory,
                    69
                )
                .GetAwaiter()
                .GetResult();
            Assert.Contains($"no file in '{catalog}'", error.Message, StringComparison.Ordinal);
            Assert.False(Directory.Exists(catalog));
            ToolResult verified = LightQTool
                .RunAsync(null, "journal", "verify", server.Directory)
                .GetAwaiter()
                .GetResult();
            Assert.Equal(1, verified.ExitCode);
            Assert.Contains("damage: the catalog is gone", verified.Text, StringComparison.Ordinal);
            Directory.Move(aside, catalog);
        });
        Assert.Equal("orders", Assert.Single(server.Broker.Topics).Name);
    }

    [Fact]
    public async Task A_certificate_that_cannot_be_read_is_told_before_there_is_a_data_directory()
    {
        using var folder = new TemporaryDirectory();
        string data = folder.File("data"),
            missing = folder.File("none.crt");
        LightQServerOptions options = LightQServerOptions.InProcess with
        {
            DataDirectory = data,
            Tls = new() { CertificateFile = missing, KeyFile = missing },
        };
        ServerStartException error = await FailsAsync(options, ServerStartFailure.Configuration, 78);
        Assert.Contains(missing, error.Message, StringComparison.Ordinal);
        Assert.False(Directory.Exists(data));
    }

    [Fact]
    public async Task A_data_directory_that_cannot_be_made_is_named()
    {
        using var folder = new TemporaryDirectory();
        File.WriteAllText(folder.File("file"), "");
        string inside = folder.File(Path.Combine("file", "data"));
        ServerStartException error = await FailsAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = inside,
            },
            ServerStartFailure.DataDirectory,
            69
        );
        Assert.Contains(inside, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_data_directory_without_write_permission_is_named()
    {
        Assert.SkipWhen(
            OperatingSystem.IsWindows() || Environment.IsPrivilegedProcess,
            "Permissions do not hold for this user."
        );
        using var folder = new TemporaryDirectory();
        string closed = Directory.CreateDirectory(folder.File("closed")).FullName;
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(closed, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        ServerStartException error = await FailsAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = closed,
            },
            ServerStartFailure.AccessDenied,
            77
        );
        Assert.Contains(closed, error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0.0.0.0", false, false)]
    [InlineData("0.0.0.0", true, true)]
    [InlineData("::", false, false)]
    [InlineData("127.0.0.2", false, true)]
    public async Task Beyond_loopback_it_starts_only_with_insecure(string address, bool insecure, bool starts)
    {
        LightQServerOptions options = LightQServerOptions.InProcess with
        {
            Bind = IPAddress.Parse(address),
            Insecure = insecure,
        };
        if (starts)
        {
            await using LightQServer server = await StartAsync(options);
            return;
        }
        ServerStartException error = await FailsAsync(options, ServerStartFailure.Configuration, 78);
        Assert.Contains("--tls-cert", error.Message, StringComparison.Ordinal);
        Assert.Contains("--require-auth", error.Message, StringComparison.Ordinal);
        Assert.Contains("--insecure", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_address_of_another_machine_is_refused()
    {
        // 192.0.2.0/24 is reserved for documentation: no machine has it.
        LightQServerOptions options = LightQServerOptions.InProcess with
        {
            Bind = IPAddress.Parse("192.0.2.1"),
            Insecure = true,
        };
        ServerStartException error = await FailsAsync(options, ServerStartFailure.Address, 78);
        Assert.Contains("--bind", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Two_planes_on_one_port_are_refused() =>
        await FailsAsync(
            LightQServerOptions.InProcess with
            {
                DataPort = 5999,
                WebPort = 5999,
            },
            ServerStartFailure.Configuration,
            78
        );

    [Fact]
    public async Task The_first_start_writes_the_password_that_later_starts_keep()
    {
        await using TestServer server = await TestServer.StartAsync();
        string password = server.AdminPassword;
        Assert.Matches("^[A-Za-z0-9_-]{43}$", password);
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(
                UnixFileMode.UserRead | UnixFileMode.UserWrite,
                File.GetUnixFileMode(Path.Combine(server.Directory, "admin-password"))
            );
            Assert.Equal(
                UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute,
                File.GetUnixFileMode(Path.Combine(server.Directory, "catalog"))
            );
        }
        await server.RestartAsync();
        Assert.Equal(password, server.AdminPassword);
    }

    [Fact]
    public async Task An_empty_password_file_is_refused()
    {
        using var folder = new TemporaryDirectory();
        File.WriteAllText(folder.File("admin-password"), "\n");
        ServerStartException error = await FailsAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = folder.Path,
            },
            ServerStartFailure.Configuration,
            78
        );
        Assert.Contains("admin-password", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_short_password_of_the_admin_is_told()
    {
        using var folder = new TemporaryDirectory();
        File.WriteAllText(folder.File("admin-password"), "short\n");
        using var log = new RecordedLog();
        await using LightQServer server = await LightQServer.StartAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = folder.Path,
            },
            log,
            TestContext.Current.CancellationToken
        );
        Assert.Contains(
            log.Lines,
            l =>
                l.Level == LogLevel.Warning
                && l.Message.Contains("fewer than 8 characters", StringComparison.Ordinal)
                && !l.Message.Contains("short", StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task Every_address_of_IPv6_is_every_address_of_IPv4_too()
    {
        Assert.SkipUnless(Socket.OSSupportsIPv6, "This machine has no IPv6.");
        await using LightQServer server = await StartAsync(
            LightQServerOptions.InProcess with
            {
                Bind = IPAddress.IPv6Any,
                Insecure = true,
            }
        );
        foreach (int port in (int[])[server.DataPort, server.ControlPort, server.WebPort])
        {
            foreach (IPAddress address in (IPAddress[])[IPAddress.Loopback, IPAddress.IPv6Loopback])
            {
                using var client = new TcpClient(address.AddressFamily);
                await client.ConnectAsync(address, port, TestContext.Current.CancellationToken);
            }
        }
    }

    /// <summary>Many a hosts file says one of both.</summary>
    [Theory]
    [InlineData("127.0.0.1", Client.ReceiveMode.Async)]
    [InlineData("127.0.0.1", Client.ReceiveMode.Thread)]
    [InlineData("::1", Client.ReceiveMode.Async)]
    [InlineData("::1", Client.ReceiveMode.Thread)]
    public async Task Localhost_is_either_address_of_loopback(string bind, Client.ReceiveMode mode)
    {
        var address = IPAddress.Parse(bind);
        Assert.SkipUnless(Socket.OSSupportsIPv6, "This machine has no IPv6.");
        await using LightQServer server = await StartAsync(LightQServerOptions.InProcess with { Bind = address });
        await using var client = new Client.LightQClient(
            new Client.LightQClientOptions
            {
                Host = "localhost",
                DataPort = server.DataPort,
                ControlPort = server.ControlPort,
                ReceiveMode = mode,
            }
        );
        CancellationToken cancelled = TestContext.Current.CancellationToken;
        await client.Topics.CreateAsync(new Client.TopicSpec("orders"), cancelled);
        await client.PublishAsync("orders", "a", cancellationToken: cancelled);
    }

    [Fact]
    public async Task Without_a_data_directory_a_temporary_one_goes_with_the_server()
    {
        LightQServer server = await StartAsync(null);
        Assert.True(Directory.Exists(server.DataDirectory));
        Assert.Equal($"lightq://127.0.0.1:{server.DataPort}?control={server.ControlPort}", server.ConnectionString);
        await server.DisposeAsync();
        Assert.False(Directory.Exists(server.DataDirectory));
    }

    [Fact]
    public async Task A_cancelled_start_leaves_nothing_behind()
    {
        using var folder = new TemporaryDirectory();
        LightQServerOptions options = LightQServerOptions.InProcess with { DataDirectory = folder.Path };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() =>
            LightQServer.StartAsync(options, null, new CancellationToken(canceled: true))
        );
        await using LightQServer server = await StartAsync(options);
    }

    [Fact]
    public async Task A_stop_is_done_once_and_awaited_by_all()
    {
        LightQServer server = await StartAsync(null);
        Task first = server.StopAsync(TimeSpan.Zero);
        Assert.Same(first, server.StopAsync());
        await first;
        await server.DisposeAsync();
    }

    private static Task<LightQServer> StartAsync(LightQServerOptions? options) =>
        LightQServer.StartAsync(options, cancellationToken: TestContext.Current.CancellationToken);

    private static async Task<ServerStartException> FailsAsync(
        LightQServerOptions options,
        ServerStartFailure failure,
        int exitCode
    )
    {
        ServerStartException error = await Assert.ThrowsAsync<ServerStartException>(() => StartAsync(options));
        Assert.Equal(failure, error.Failure);
        Assert.Equal(exitCode, error.ExitCode);
        Assert.DoesNotContain('\n', error.Message);
        return error;
    }
}
