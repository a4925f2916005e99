using System.Diagnostics;
using System.Globalization;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using Microsoft.Extensions.Logging.Abstractions;
using NATS.NKeys;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>An account of its own: as the page on clusters says, and with an operator's credentials.</summary>
public sealed class AccountTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _directory = new();
    private readonly int _port = FreePorts.Find(1);
    private readonly List<KeyPair> _keys = [];
    private Process? _server;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    private string Address => $"nats://127.0.0.1:{_port.ToString(CultureInfo.InvariantCulture)}";

    public ValueTask InitializeAsync()
    {
        Assert.SkipWhen(
            NatsCluster.FindProgram() is null,
            "nats-server is not installed: apt-get install nats-server."
        );
        return ValueTask.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
        {
            _server.Kill();
            await _server.WaitForExitAsync(CancellationToken.None);
            _server.Dispose();
        }
        foreach (KeyPair key in _keys)
            key.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task With_the_accounts_that_the_page_shows_only_the_seed_lets_a_broker_in()
    {
        KeyPair user = Make(PrefixByte.User),
            stranger = Make(PrefixByte.User);
        string accounts = AccountsOfThePage();
        Assert.Contains("UBROKERSPUBLICKEY", accounts, StringComparison.Ordinal);
        await StartAsync(
            accounts
                .Replace("UBROKERSPUBLICKEY", user.GetPublicKey(), StringComparison.Ordinal)
                .Replace(
                    "SYS:",
                    "APP: { jetstream: enabled, users: [ { user: app, password: app } ] }\n  SYS:",
                    StringComparison.Ordinal
                )
        );
        NatsLogin own = new() { SeedFile = FileOf("lightq.nk", user.GetSeed()) };
        await AppendAsync(own);
        await RefusedAsync(new NatsLogin());
        await RefusedAsync(new NatsLogin { SeedFile = FileOf("stranger.nk", stranger.GetSeed()) });

        foreach (string bad in new[] { "", "SUNOSEED", "SU-0189-SU", "nothing" })
        {
            string file = FileOf("bad.nk", bad);
            ArgumentException error = await Assert.ThrowsAsync<ArgumentException>(() =>
                ConnectAsync(new NatsLogin { SeedFile = file })
            );
            Assert.Contains(file, error.Message, StringComparison.Ordinal);
        }

        // Another account of the same servers neither sees the stream nor can take it.
        var app = new NatsLogin { User = "app", PasswordFile = FileOf("app", "app") };
        Assert.Equal(["LQ_account"], await ListAsync(own));
        Assert.Empty(await ListAsync(app));
    }

    [Fact]
    public async Task An_operators_credentials_let_a_broker_in_and_others_do_not()
    {
        KeyPair @operator = Make(PrefixByte.Operator),
            account = Make(PrefixByte.Account),
            system = Make(PrefixByte.Account),
            strangers = Make(PrefixByte.Account),
            user = Make(PrefixByte.User);
        await StartAsync(
            $$"""
            operator: {{NatsJwt.OfOperator(@operator)}}
            system_account: {{system.GetPublicKey()}}
            resolver: MEMORY
            resolver_preload: {
              {{account.GetPublicKey()}}: {{NatsJwt.OfAccount(account, @operator)}}
              {{system.GetPublicKey()}}: {{NatsJwt.OfAccount(system, @operator, isSystem: true)}}
            }
            """
        );
        await AppendAsync(new NatsLogin { CredentialsFile = FileOf("lightq.creds", NatsJwt.FileOf(user, account)) });
        await RefusedAsync(new NatsLogin());
        await RefusedAsync(
            new NatsLogin { CredentialsFile = FileOf("strangers.creds", NatsJwt.FileOf(user, strangers)) }
        );
    }

    /// <summary>What the page says about accounts.</summary>
    private static string AccountsOfThePage()
    {
        string folder = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(folder, "LightQ.sln")))
            folder = Path.GetDirectoryName(folder)!;
        string page = File.ReadAllText(Path.Combine(folder, "docs", "operate", "cluster.md"));
        int start = page.IndexOf("\naccounts {", StringComparison.Ordinal);
        return page[start..page.IndexOf("\n```", start, StringComparison.Ordinal)];
    }

    private KeyPair Make(PrefixByte kind)
    {
        var key = KeyPair.CreatePair(kind);
        _keys.Add(key);
        return key;
    }

    private string FileOf(string name, string content)
    {
        File.WriteAllText(_directory.File(name), content);
        return _directory.File(name);
    }

    private async Task StartAsync(string accounts)
    {
        string file = FileOf(
            "nats.conf",
            $$"""
            listen: 127.0.0.1:{{_port.ToString(CultureInfo.InvariantCulture)}}
            max_payload: 8MB
            log_file: "{{_directory.File("nats.log")}}"
            jetstream { store_dir: "{{_directory.File("data")}}" }
            {{accounts}}
            """
        );
        _server = Process.Start(new ProcessStartInfo(NatsCluster.FindProgram()!, ["-c", file]))!;
        string Log() => File.Exists(_directory.File("nats.log")) ? File.ReadAllText(_directory.File("nats.log")) : "";
        await Eventually.TrueAsync(
            () => Log().Contains("Server is ready", StringComparison.Ordinal) || _server.HasExited,
            TimeSpan.FromSeconds(30),
            Log
        );
        Assert.False(_server.HasExited, Log());
    }

    private async Task AppendAsync(NatsLogin login)
    {
        await using IReplicationEngine engine = await ConnectAsync(login);
        IReplicatedStream stream = await engine.CreateStreamAsync("LQ_account", 1, Cancelled);
        Assert.Equal(EntryAppend.Stored(1), await stream.AppendAsync(EntryKind.Data, new byte[9], 0, Cancelled));
    }

    private async Task<List<string>> ListAsync(NatsLogin login)
    {
        await using IReplicationEngine engine = await ConnectAsync(login);
        List<string> names = [];
        await foreach (string name in engine.ListStreamsAsync("LQ_", Cancelled))
            names.Add(name);
        return names;
    }

    private Task<ReplicationException> RefusedAsync(NatsLogin login) =>
        Assert.ThrowsAsync<ReplicationException>(() => ConnectAsync(login));

    private async Task<IReplicationEngine> ConnectAsync(NatsLogin login)
    {
        NatsEngineOptions options = NatsReplication.Options(
            Address,
            monitoring: null,
            "shop",
            login,
            NullLoggerFactory.Instance
        );
        return await JetStreamEngine.ConnectAsync(options with { ChangeTimeout = TimeSpan.FromSeconds(10) }, Cancelled);
    }
}
