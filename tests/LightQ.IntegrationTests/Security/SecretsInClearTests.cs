using System.Globalization;
using System.Net;
using System.Net.Sockets;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>Beyond loopback, passwords and tokens are sent over TLS, or not at all.</summary>
/// <remarks>
/// The address 0.0.0.0 is none of loopback, and yet leads to this machine: where the guard failed, nothing would leave
/// it.
/// </remarks>
public sealed class SecretsInClearTests
{
    private const string Beyond = "0.0.0.0";
    private const string Secret = "not-for-the-network";
    private const int Configuration = 78;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(ReceiveMode.Thread, false)]
    [InlineData(ReceiveMode.Thread, true)]
    [InlineData(ReceiveMode.Async, false)]
    [InlineData(ReceiveMode.Async, true)]
    public async Task A_login_is_refused_before_anything_is_connected(ReceiveMode mode, bool isToken)
    {
        using Listener listener = new();
        LightQClientOptions plain = new()
        {
            Host = Beyond,
            DataPort = listener.Port,
            ControlPort = listener.Port,
            ReceiveMode = mode,
            WaitForBroker = true,
        };
        await using var client = new LightQClient(
            isToken ? plain with { Token = Secret } : plain with { User = "ann", Password = Secret }
        );

        await AssertRefusedAsync(() => client.ConnectAsync(Cancelled));
        await AssertRefusedAsync(() => client.CreateProducerAsync("t", cancellationToken: Cancelled));
        await AssertRefusedAsync(() => client.Stats.GetBrokerAsync(Cancelled));
        await AssertRefusedAsync(() =>
            client
                .Stats.WatchAsync("t", cancellationToken: Cancelled)
                .GetAsyncEnumerator(Cancelled)
                .MoveNextAsync()
                .AsTask()
        );

        Assert.False(listener.WasReached);
    }

    [Fact]
    public async Task A_secret_of_somebody_else_is_refused_too_of_a_client_without_a_login()
    {
        using Listener listener = new();
        await using var client = new LightQClient(
            new LightQClientOptions { Host = Beyond, ControlPort = listener.Port }
        );

        await AssertRefusedAsync(() => client.Users.CreateAsync("ann", Secret, Cancelled));
        await AssertRefusedAsync(() => client.Users.SetPasswordAsync("ann", Secret, cancellationToken: Cancelled));
        await AssertRefusedAsync(() => client.Users.CreateTokenAsync("ann", cancellationToken: Cancelled));
        await AssertRefusedAsync(() => client.Topics.SetCredentialsAsync("t", "ann", Secret, Cancelled));

        Assert.False(listener.WasReached);
    }

    [Theory]
    [InlineData("lightq://ann:not-for-the-network@0.0.0.0:{0}?control={0}", null)]
    [InlineData("lightq://0.0.0.0:{0}?control={0}&token=not-for-the-network", null)]
    [InlineData("lightq://ann:not-for-the-network@[::ffff:0.0.0.0]:{0}?control={0}", null)]
    [InlineData("lightq://ann@0.0.0.0:{0}?control={0}", "LIGHTQ_PASSWORD")]
    [InlineData("lightq://ann@0.0.0.0:{0}?control={0}", "LIGHTQ_PASSWORD_FILE")]
    [InlineData("lightq://0.0.0.0:{0}?control={0}", "LIGHTQ_TOKEN")]
    [InlineData("lightq://0.0.0.0:{0}?control={0}", "LIGHTQ_NEW_PASSWORD")]
    public async Task The_tool_says_so_wherever_the_secret_comes_from(string server, string? variable)
    {
        using Listener listener = new();
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "password");
        await File.WriteAllTextAsync(file, Secret, Cancelled);
        (string Name, string Value)[] environment =
        [
            ("LIGHTQ_SERVER", string.Format(CultureInfo.InvariantCulture, server, listener.Port)),
            .. variable is null ? [] : new[] { (variable, variable == "LIGHTQ_PASSWORD_FILE" ? file : Secret) },
        ];
        string[][] commands =
            variable == "LIGHTQ_NEW_PASSWORD"
                ?
                [
                    ["user", "create", "ann"],
                ]
                :
                [
                    ["topic", "list"],
                    ["pub", "t", "hello"],
                ];

        foreach (string[] command in commands)
        {
            ToolResult refused = await LightQTool.RunWithAsync(environment, command);
            refused.FailedWith(Configuration, "connect with tls=true, or with insecure=true");
            Assert.DoesNotContain(Secret, refused.Errors, StringComparison.Ordinal);
        }

        Assert.False(listener.WasReached);
    }

    [Fact]
    public async Task A_client_from_a_configuration_is_refused_alike()
    {
        using Listener listener = new();
        string port = listener.Port.ToString(CultureInfo.InvariantCulture);
        IConfigurationRoot configuration = new ConfigurationBuilder()
            .AddInMemoryCollection(
                new Dictionary<string, string?>
                {
                    ["LightQ:Host"] = Beyond,
                    ["LightQ:DataPort"] = port,
                    ["LightQ:ControlPort"] = port,
                    ["LightQ:User"] = "ann",
                    ["LightQ:Password"] = Secret,
                }
            )
            .Build();
        await using ServiceProvider services = new ServiceCollection()
            .AddLightQ(configuration.GetSection("LightQ"))
            .BuildServiceProvider();

        await AssertRefusedAsync(() => services.GetRequiredService<LightQClient>().ConnectAsync(Cancelled));
        Assert.False(listener.WasReached);
    }

    [Fact]
    public async Task What_is_no_secret_goes_beyond_loopback_and_a_secret_where_that_is_allowed()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "0.0.0.0 leads nowhere there");
        await using TestServer server = await TestServer.StartAsync();
        string port = server.DataPort.ToString(CultureInfo.InvariantCulture);
        foreach (
            string connection in new[]
            {
                $"lightq://{Beyond}:{port}",
                $"lightq://admin:{server.AdminPassword}@{Beyond}:{port}?insecure=true",
            }
        )
        {
            await using var client = new LightQClient(connection);
            await client.ConnectAsync(Cancelled);
            // HTTP does not go there, whoever asks; but it was let through.
            Assert.Equal(
                ErrorCode.Unavailable,
                (await Assert.ThrowsAsync<LightQException>(() => client.Users.WhoAmIAsync(Cancelled))).Code
            );
        }
    }

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("127.9.9.9")]
    [InlineData("localhost")]
    [InlineData("::ffff:127.0.0.1")]
    public async Task On_loopback_a_login_needs_nothing_else(string host)
    {
        Assert.SkipWhen(host == "127.9.9.9" && !OperatingSystem.IsLinux(), "Only Linux answers on all of 127.0.0.0/8.");
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Bind = host == "127.9.9.9" ? IPAddress.Parse(host) : o.Bind,
            }
        );
        await using var client = new LightQClient(
            new LightQClientOptions
            {
                Host = host,
                DataPort = server.DataPort,
                ControlPort = server.ControlPort,
                User = "admin",
                Password = server.AdminPassword,
            }
        );

        await client.ConnectAsync(Cancelled);
        Assert.True((await client.Users.WhoAmIAsync(Cancelled)).IsAdmin);
    }

    [Fact]
    public async Task A_name_is_what_it_resolves_to()
    {
        string name = Dns.GetHostName();
        IPAddress[] addresses;
        try
        {
            addresses = await Dns.GetHostAddressesAsync(name, Cancelled);
        }
        catch (SocketException e)
        {
            Assert.Skip($"This machine's name, {name}, cannot be resolved: {e.Message}");
            return;
        }
        using Listener listener = new();
        await using var client = new LightQClient(
            new LightQClientOptions
            {
                Host = name,
                DataPort = listener.Port,
                Token = Secret,
                ConnectTimeout = TimeSpan.FromSeconds(1),
            }
        );

        LightQException refused = await Assert.ThrowsAsync<LightQException>(() => client.ConnectAsync(Cancelled));

        bool isLoopback = addresses.All(IPAddress.IsLoopback);
        Assert.Equal(
            (isLoopback ? ErrorCode.Unavailable : ErrorCode.TlsRequired, isLoopback),
            (refused.Code, listener.WasReached)
        ); // Nobody answers there.
    }

    private static async Task AssertRefusedAsync(Func<Task> ask)
    {
        LightQException refused = await Assert.ThrowsAsync<LightQException>(ask);
        Assert.Equal(
            (
                ErrorCode.TlsRequired,
                "Without TLS, passwords and tokens are sent to this machine alone, and 0.0.0.0 is not an address of "
                    + "loopback: connect with tls=true, or with insecure=true if the network may read them."
            ),
            (refused.Code, refused.Message)
        );
    }

    /// <summary>Listens on all addresses of this machine, and says whether anybody came.</summary>
    private sealed class Listener : IDisposable
    {
        private readonly TcpListener _listener = new(IPAddress.Any, 0);

        public Listener() => _listener.Start();

        public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

        public bool WasReached => _listener.Pending();

        public void Dispose() => _listener.Dispose();
    }
}
