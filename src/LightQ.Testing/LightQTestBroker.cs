using LightQ.Client;
using LightQ.Server;
using Microsoft.Extensions.Logging;

namespace LightQ.Testing;

/// <summary>
/// A real broker inside a test: free loopback ports, a temporary data directory that is deleted with it, and a clock
/// that the test moves. Thread-safe.
/// </summary>
/// <remarks>
/// Many may run side by side in one process, one per test or per test class. Starting one takes some tens of
/// milliseconds.
/// </remarks>
/// <example>
/// <code>
/// await using LightQTestBroker broker = await LightQTestBroker.StartAsync();
/// await using LightQClient client = broker.CreateClient();
/// </code>
/// </example>
public sealed class LightQTestBroker : IAsyncDisposable
{
    private readonly LightQServerOptions _options;
    private readonly ILoggerFactory? _loggers;
    private readonly DirectoryInfo? _ownDirectory;
    private LightQServer _server = null!;

    private LightQTestBroker(LightQServerOptions options, ILoggerFactory? loggers)
    {
        _ownDirectory = options.DataDirectory is null ? Directory.CreateTempSubdirectory("lightq-test-") : null;
        _options = options with { DataDirectory = options.DataDirectory ?? _ownDirectory!.FullName };
        _loggers = loggers;
    }

    /// <summary>
    /// The clock of the broker and of the clients that <see cref="CreateClient"/> makes: locks, delays between
    /// redeliveries, delayed delivery, time to live, retention by age.
    /// </summary>
    /// <remarks>
    /// Connections keep the machine's time, so none is cut when the clock jumps. If the clock jumps past the end of a
    /// lock, a processor gets no time to renew it.
    /// </remarks>
    public TestTime Time => (TestTime)_options.TimeProvider;

    /// <summary>The broker; another one after <see cref="RestartAsync"/>.</summary>
    public LightQServer Server => _server;

    /// <summary>The connection string for clients; the same after a restart.</summary>
    public string ConnectionString => _server.ConnectionString;

    /// <summary>Starts a broker.</summary>
    /// <param name="configure">
    /// Changes the broker's options, for example its data directory or whether it requires a login. Null: no change.
    /// </param>
    /// <param name="loggers">Where the broker logs; null means nowhere.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="ServerStartException">The broker does not start; the message gives the reason.</exception>
    /// <exception cref="ArgumentException">The options bring a clock of their own.</exception>
    public static async Task<LightQTestBroker> StartAsync(
        Func<LightQServerOptions, LightQServerOptions>? configure = null,
        ILoggerFactory? loggers = null,
        CancellationToken cancellationToken = default
    )
    {
        LightQServerOptions standard = LightQServerOptions.InProcess with
        {
            TimeProvider = new TestTime(),
            ConnectionTime = TimeProvider.System,
        };
        LightQServerOptions options = configure?.Invoke(standard) ?? standard;
        if (options.TimeProvider is not TestTime)
            throw new ArgumentException($"The clock of a test's broker is a {nameof(TestTime)}.", nameof(configure));
        var broker = new LightQTestBroker(options, loggers);
        try
        {
            broker._server = await LightQServer
                .StartAsync(broker._options, loggers, cancellationToken)
                .ConfigureAwait(false);
            return broker;
        }
        catch
        {
            broker._ownDirectory?.Delete(recursive: true);
            throw;
        }
    }

    /// <summary>Creates a client of this broker that uses its clock. The caller disposes the client.</summary>
    /// <param name="configure">Changes the client's options. Null: no change.</param>
    public LightQClient CreateClient(Func<LightQClientOptions, LightQClientOptions>? configure = null)
    {
        LightQClientOptions standard = Lead(new LightQClientOptions());
        return new LightQClient(configure?.Invoke(standard) ?? standard);
    }

    /// <summary>
    /// Stops the broker and starts another on the same ports and data. Durable topics keep their messages; clients
    /// reconnect by themselves.
    /// </summary>
    /// <param name="between">Called while no broker runs. Null: nothing.</param>
    public async Task RestartAsync(Action? between = null)
    {
        LightQServerOptions again = _options with
        {
            DataPort = _server.DataPort,
            ControlPort = _server.ControlPort,
            WebPort = _server.WebPort,
        };
        await _server.StopAsync().ConfigureAwait(false);
        between?.Invoke();
        _server = await LightQServer.StartAsync(again, _loggers).ConfigureAwait(false);
    }

    /// <summary>
    /// Cuts every connection of the data plane, like a failing network. Clients reconnect by themselves; messages that
    /// members of groups held are redelivered.
    /// </summary>
    public void DropConnections() => _server.DropConnections();

    /// <summary>Stops the broker and deletes its temporary directory.</summary>
    public async ValueTask DisposeAsync()
    {
        await _server.StopAsync().ConfigureAwait(false);
        if (_ownDirectory?.Exists == true)
            _ownDirectory.Delete(recursive: true);
    }

    /// <summary>The options of a client, led to this broker and its clock; nothing of another broker's login.</summary>
    internal LightQClientOptions Lead(LightQClientOptions options)
    {
        LightQClientOptions own = LightQClientOptions.Parse(ConnectionString);
        return options with
        {
            Host = own.Host,
            DataPort = own.DataPort,
            ControlPort = own.ControlPort,
            OtherBrokers = own.OtherBrokers,
            User = null,
            Password = null,
            Token = null,
            PasswordFile = null,
            TokenFile = null,
            PasswordProvider = null,
            TokenProvider = null,
            Tls = own.Tls,
            Insecure = own.Insecure,
            CertificateAuthorityFile = own.CertificateAuthorityFile,
            ClientCertificateFile = null,
            ClientKeyFile = null,
            TimeProvider = Time,
            ConnectionTime = TimeProvider.System,
        };
    }
}
