using System.Net;
using System.Net.Sockets;
using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.Protocol;
using LightQ.Server.Audit;
using LightQ.Server.Cluster;
using LightQ.Server.Configuration;
using LightQ.Server.Connections;
using LightQ.Server.Control;
using LightQ.Server.DataPlane;
using LightQ.Server.Hosting;
using LightQ.Server.Limits;
using LightQ.Server.Ports;
using LightQ.Server.Security;
using LightQ.Server.Telemetry;
using LightQ.Server.Tls;
using LightQ.Server.Web;
using LightQ.Storage.Files;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Server;

/// <summary>
/// A running broker: data plane, control plane and web port. It is the same in the <c>lightq server</c> process and
/// inside a test, and changes nothing in the process around it. Thread-safe.
/// </summary>
/// <example>
/// <code>
/// await using LightQServer server = await LightQServer.StartAsync();
/// await using var client = new LightQClient(server.ConnectionString);
/// </code>
/// </example>
public sealed class LightQServer : IAsyncDisposable, IServerOperations
{
    private volatile LightQServerOptions _options;
    private readonly ILogger _logger;
    private readonly BrokerDirectory _directory;
    private readonly Readiness _readiness = new();
    private readonly StorageLog _storageLog;
    private readonly Lock _stopLock = new();
    private readonly Lock _reloading = new();
    private LightQBroker? _broker;
    private AuditLog? _audit;
    private ServerLimits? _limits;
    private ServerSecurity? _security;
    private ConnectionListener? _listener;
    private ControlServices? _control;
    private HttpHost? _http;
    private readonly CallSpans _spans = new();
    private ServerMeter? _meter;
    private OtlpExport? _otlp;
    private IReplicationEngine? _replication;
    private NodeLinks? _nodes;
    private ServerTls? _tls;
    private CertificateWatch? _certificateWatch;
    private readonly TaskCompletionSource _hasStopped = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Drain? _drain;
    private Task? _stopped;

    private LightQServer(LightQServerOptions options, ILoggerFactory loggers)
    {
        _logger = loggers.CreateLogger("LightQ.Server");
        _options = options with { TimeProvider = ServerLog.Follow(options.TimeProvider, _logger) };
        _directory = BrokerDirectory.Choose(options.DataDirectory);
        _storageLog = new StorageLog(_logger, _directory.Path);
    }

    /// <summary>
    /// Raised when a reload has changed <see cref="Options"/>. A reload waits for the handlers, which must not start
    /// another reload.
    /// </summary>
    public event EventHandler? OptionsChanged;

    /// <summary>The data plane's port.</summary>
    public int DataPort => _listener!.EndPoint.Port;

    /// <summary>Open data-plane connections.</summary>
    public int ConnectionCount => _listener!.Count;

    /// <summary>Messages received and sent since the start, of the topics that exist now.</summary>
    public long MessagesMoved =>
        _broker!.Topics.SelectMany(t => t.Partitions).Sum(p => p.Counters.MessagesReceived + p.Counters.MessagesSent);

    /// <summary>The control plane's port (gRPC).</summary>
    public int ControlPort => _http!.ControlEndPoint.Port;

    /// <summary>The port of health and metrics.</summary>
    public int WebPort => _http!.WebEndPoint.Port;

    /// <summary>The connection string for a client on this machine.</summary>
    public string ConnectionString
    {
        get
        {
            string ca = Uri.EscapeDataString(Path.Combine(DataDirectory, SelfSignedCertificate.CertificateName));
            return ConnectionStringFor(_tls?.HostFor(LocalHost) ?? LocalHost, ca);
        }
    }

    /// <summary>
    /// The connection strings for clients on other machines: one for each address and, with TLS, for each name of the
    /// certificate. Empty when the server listens only on loopback.
    /// </summary>
    public IEnumerable<string> RemoteConnectionStrings
    {
        get
        {
            IEnumerable<string> addresses = MachineAddresses.Of(_options.Bind).Select(a => a.ToString());
            IEnumerable<string> hosts = IPAddress.IsLoopback(_options.Bind)
                ? []
                : _tls?.HostsFor(addresses) ?? addresses;
            return hosts.Select(h =>
                ConnectionStringFor(
                    h.Contains(':', StringComparison.Ordinal) ? $"[{h}]" : h,
                    SelfSignedCertificate.CertificateName
                )
            );
        }
    }

    /// <summary>The data directory's full path.</summary>
    public string DataDirectory => _directory.Path;

    /// <summary>The version of this build, such as 0.1.0.</summary>
    public static string Version => ServerVersion.Text;

    /// <summary>The options in force: those of the start, with what a reload has changed since.</summary>
    public LightQServerOptions Options => _options;

    /// <summary>The engine.</summary>
    internal LightQBroker Broker => _broker!;

    private string LocalHost =>
        _options.Bind switch
        {
            { AddressFamily: AddressFamily.InterNetworkV6 } v6 => v6.Equals(IPAddress.IPv6Any) ? "[::1]" : $"[{v6}]",
            var v4 => v4.Equals(IPAddress.Any) ? "127.0.0.1" : v4.ToString(),
        };

    /// <summary>
    /// Completes when the server has stopped, no matter what stopped it: <see cref="StopAsync"/>, or a client with the
    /// right Admin over gRPC.
    /// </summary>
    public Task Stopped => _hasStopped.Task;

    /// <summary>
    /// Reads the configuration that <see cref="ReloadAsync"/> compares with the one in force; null for a server whose
    /// options never change.
    /// </summary>
    public Func<ServerConfiguration>? ConfigurationSource { get; set; }

    /// <summary>Where passwords are hashed.</summary>
    internal PasswordQueue Passwords => _security!.Authenticator.Passwords;

    /// <summary>The limits in force.</summary>
    internal ServerLimits Limits => _limits!;

    /// <summary>
    /// Gives the buffers that no connection uses to the garbage collector, so that an idle process becomes small.
    /// </summary>
    public void TrimBuffers() => _listener!.TrimBuffers();

    private string ConnectionStringFor(string host, string authority)
    {
        string tls = _tls is null ? "" : "&tls=true";
        string ca = _options.Tls.SelfSigned ? $"&ca={authority}" : "";
        return $"lightq://{host}:{DataPort}?control={ControlPort}{tls}{ca}";
    }

    /// <summary>Locks the data directory, recovers it, binds the three ports, and is then ready.</summary>
    /// <param name="options">Null means <see cref="LightQServerOptions.InProcess"/>.</param>
    /// <param name="loggers">Where to log; null means nowhere.</param>
    /// <param name="cancellationToken">Cancels the start; what was begun is undone.</param>
    /// <exception cref="ServerStartException">
    /// The server does not start; the message gives the reason and what to do.
    /// </exception>
    public static async Task<LightQServer> StartAsync(
        LightQServerOptions? options = null,
        ILoggerFactory? loggers = null,
        CancellationToken cancellationToken = default
    )
    {
        options ??= LightQServerOptions.InProcess;
        loggers ??= NullLoggerFactory.Instance;
        StartChecks.Check(options);
        var server = new LightQServer(options, loggers);
        try
        {
            await server.RunAsync(loggers, cancellationToken).ConfigureAwait(false);
            return server;
        }
        catch
        {
            await server.StopAsync(TimeSpan.Zero).ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>
    /// Lets clients finish what is under way. The server opens nothing new, gives members of groups no more messages,
    /// and tells the clients to leave. It acknowledges what producers have sent, and accepts settlements of the
    /// messages that members hold. Stop it then.
    /// </summary>
    /// <param name="timeout">
    /// The longest time that it takes; null means <see cref="LightQServerOptions.DrainTimeout"/>. A drain that is under
    /// way is not changed.
    /// </param>
    /// <param name="cancellationToken">Ends the wait, without an error.</param>
    public async Task DrainAsync(TimeSpan? timeout = null, CancellationToken cancellationToken = default)
    {
        Drain drain = ((IServerOperations)this).BeginDrain(timeout ?? _options.DrainTimeout);
        using CancellationTokenRegistration registration = cancellationToken.Register(drain.CutShort);
        await drain.Completion.ConfigureAwait(false);
    }

    /// <summary>
    /// Reads the configuration and the certificate files again. Settings with <see cref="ServerSetting.IsLive"/> are in
    /// force when this returns; the others need a restart. A configuration that is not allowed is rejected as a whole.
    /// </summary>
    /// <exception cref="InvalidOperationException">There is no <see cref="ConfigurationSource"/>.</exception>
    public Task<ReloadReport> ReloadAsync() =>
        ConfigurationSource is null
            ? throw new InvalidOperationException($"There is no {nameof(ConfigurationSource)}.")
            : ((IServerOperations)this).ReloadAsync("broker", Origin.Broker);

    /// <inheritdoc/>
    async Task<ReloadReport> IServerOperations.ReloadAsync(string actor, Origin origin)
    {
        Func<ServerConfiguration> source =
            ConfigurationSource
            ?? throw new BrokerException(
                ErrorCode.NotSupported,
                "This broker is a part of a program that gave it its settings: there is no configuration to read again."
            );
        ReloadReport report = await Task.Run(() => Reload(source)).ConfigureAwait(false);
        Log(report);
        string what = report.Refusal is { } refusal
            ? $"refused: {refusal}"
            : string.Join(
                ", ",
                report.Settings.Select(s =>
                    $"{s.Setting.Key} {s.From} to {s.To}{(s.IsApplied ? "" : " needs a restart")}"
                )
            );
        await _security!
            .Events.RaiseAsync(new SecurityEvent(SecurityAction.ConfigurationReloaded, actor, origin, Detail: what))
            .ConfigureAwait(false);
        return report;
    }

    private void Log(ReloadReport report)
    {
        foreach (SettingReload change in report.Settings)
        {
            ServerLog.Reloaded(
                _logger,
                change.Setting.Key,
                change.From,
                change.To,
                change.IsApplied ? "applied" : "needs a restart"
            );
        }
    }

    private ReloadReport Reload(Func<ServerConfiguration> source)
    {
        lock (_reloading)
        {
            try
            {
                (LightQServerOptions options, IReadOnlyList<SettingReload> settings) = ConfigurationReload.Merge(
                    _options,
                    source().Options,
                    _options.TimeProvider.GetUtcNow()
                );
                Apply(options);
                return new ReloadReport(settings, null, _tls is not null, _tls?.Reload());
            }
            catch (ServerStartException e)
            {
                ServerLog.ReloadRefused(_logger, e.Message);
                return ReloadReport.Refused(e.ClientMessage);
            }
        }
    }

    private void Apply(LightQServerOptions options)
    {
        bool isAuthChanged = options.RequireAuth != _options.RequireAuth;
        _options = options;
        _limits!.Options = options;
        _broker!.Options = options.Broker with
        {
            StorageEvents = _storageLog,
            Replication = _broker.Options.Replication,
        };
        _audit?.Apply(options.Audit);
        Authenticator authenticator = _security!.Authenticator;
        authenticator.Options = authenticator.Options with { RequireAuth = options.RequireAuth };
        if (isAuthChanged)
            _security.Access.Review();
        OptionsChanged?.Invoke(this, EventArgs.Empty);
    }

    /// <inheritdoc/>
    async Task<bool> IServerOperations.ConfirmCatalogAsync(string actor, Origin origin)
    {
        if (!await Task.Run(ConfirmCatalog).ConfigureAwait(false))
            return false;
        await _security!
            .Events.RaiseAsync(new SecurityEvent(SecurityAction.CatalogConfirmed, actor, origin))
            .ConfigureAwait(false);
        return true;
    }

    private bool ConfirmCatalog()
    {
        lock (_reloading)
        {
            Authenticator authenticator = _security!.Authenticator;
            if (!authenticator.Options.IsLimitedToAdmin)
                return false;
            CatalogConfirmation.Give(_directory.Path);
            authenticator.Options = authenticator.Options with { IsLimitedToAdmin = false };
            _security.Access.Review(); // Who waits for a change of rights looks again.
            return true;
        }
    }

    /// <inheritdoc/>
    (string Data, string Control) IServerOperations.GetAddresses() =>
        ClusterConnection.AddressesOf(_options.Cluster, _listener!.EndPoint, _http!.ControlEndPoint);

    /// <inheritdoc/>
    Drain IServerOperations.BeginDrain(TimeSpan timeout)
    {
        lock (_stopLock)
        {
            if (_drain is not null)
                return _drain;
            ServerLog.Draining(_logger, _listener!.Count + _control!.Calls.Open.Count(), timeout);
            _readiness.End();
            return _drain = new Drain(_broker!, _listener, _control.Calls, _options.ConnectionTime, timeout);
        }
    }

    /// <inheritdoc/>
    void IServerOperations.BeginStop() =>
        _ = Task.Run(async () => await StopAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing));

    /// <summary>
    /// Stops the server. It accepts no more connections and notifies the clients. It waits for their connections up to
    /// <paramref name="timeout"/> and then closes them. It writes the data of durable topics that is still in memory to
    /// the disk, and releases the data directory. Nothing that was acknowledged is lost. Later calls wait for the
    /// first.
    /// </summary>
    /// <param name="timeout">
    /// How long connections have to end by themselves; null means <see cref="LightQServerOptions.StopTimeout"/>.
    /// </param>
    public Task StopAsync(TimeSpan? timeout = null)
    {
        lock (_stopLock)
            return _stopped ??= StopAndTellAsync(timeout ?? _options.StopTimeout);
    }

    /// <summary>
    /// Reads the certificate files again; the next handshakes use them. Handshakes also do so by themselves when the
    /// files have changed.
    /// </summary>
    /// <returns>
    /// Whether the files can be used; also true without TLS. Otherwise the reason is logged, and the previous
    /// certificate stays in force.
    /// </returns>
    public bool ReloadCertificate() => _tls?.Reload() is null;

    /// <summary>Cuts every data-plane connection.</summary>
    internal void DropConnections() => _listener!.DropAll();

    /// <summary>Stops the server if it has not been stopped.</summary>
    public async ValueTask DisposeAsync() => await StopAsync().ConfigureAwait(false);

    private async Task RunAsync(ILoggerFactory loggers, CancellationToken cancellationToken)
    {
        TimeProvider time = _options.TimeProvider;
        long began = time.GetTimestamp();
        if (!_options.Tls.SelfSigned)
            // A certificate that cannot be used is told before there is a data directory.
            _tls = _directory.OpenTls(_options, _logger);
        var refusals = new LimitRefusals();
        var engine = _options.Broker with
        {
            StorageEvents = _storageLog,
            Refusals = refusals.In(ServerSettings.BrokerSection),
        };
        _limits = new ServerLimits(_options, refusals, _options.ConnectionTime, _logger);
        var waiting = new EngineWait(_limits, _tls, loggers);
        await using (waiting.ConfigureAwait(false))
        {
            ReplicationOptions? cluster = await waiting
                .UntilAsync(() => ClusterConnection.OpenAsync(_options, loggers, cancellationToken), cancellationToken)
                .ConfigureAwait(false);
            _replication = cluster?.Engine;
            engine = cluster is null ? engine : engine with { Replication = cluster };
            _broker = await waiting
                .UntilAsync(() => _directory.OpenBrokerAsync(engine, time), cancellationToken)
                .ConfigureAwait(false);
        }
        if (engine.Replication is { } replication)
        {
            await ClusterConnection
                .WarnOfUnsyncedAsync(replication, _broker, _logger, cancellationToken)
                .ConfigureAwait(false);
        }
        cancellationToken.ThrowIfCancellationRequested();
        _tls ??= _directory.OpenTls(_options, _logger);
        _audit = OpenAudit(time);
        _security = Secure(_broker, new SecurityLog(_limits, _logger, _audit));
        _storageLog.Events = _security.Events;
        _listener = Listen(_broker, _security, _limits, loggers);
        _control = new ControlServices(
            _broker,
            _listener,
            _limits,
            _security,
            this,
            _audit,
            time,
            _options.ConnectionTime,
            _logger,
            _nodes = NodeLinks.Open(_broker, _security, _options, _tls, _logger)
        );
        _broker.Clock.Stepped += _ => _listener.TellTime();
        _security.Access.AddReviewer(_listener.Review);
        _security.Access.AddReviewer(_control.Review);
        var figures = new FigureSource(
            _broker,
            _listener,
            _limits,
            _readiness,
            new Degradation(_broker, _audit, _security.Access),
            _tls
        );
        var web = new WebEndpoints(figures, _security, new AdminCommands(_broker, _security));
        _http = await HttpHost
            .StartAsync(
                _limits,
                _tls,
                _listener.EndPoint.Port,
                _control,
                web,
                _readiness,
                _spans,
                loggers,
                cancellationToken
            )
            .ConfigureAwait(false);
        _listener.Start();
        _certificateWatch = _tls is null ? null : new CertificateWatch(_tls, time, _logger);
        _meter = new ServerMeter(figures, _listener.EndPoint.Port);
        if (_options.Otlp.Endpoint is not null)
        {
            _otlp = OtlpExport.Start(
                _options.Otlp,
                _meter,
                _spans,
                _listener.EndPoint.Port,
                _options.ConnectionTime,
                _logger
            );
        }
        (string data, string control) = ((IServerOperations)this).GetAddresses();
        _broker.Replicas.Members?.Advertise(data, control);
        _nodes?.Begin();
        _readiness.Follow(_broker.Options.Replication?.Conditions);
        _readiness.Begin();
        LogStart((long)time.GetElapsedTime(began).TotalMilliseconds);
        if (_security.Access.IsLimitedToAdmin)
            _ = RaiseAsync(SecurityAction.CatalogUnconfirmed, "only admin may log in");
        _ = RaiseAsync(
            SecurityAction.BrokerStarted,
            $"LightQ {ServerVersion.Text}, login {(_options.RequireAuth ? "required" : "not required")}, TLS "
                + $"{(_tls is null ? "off" : "on")}, on {_options.Bind}"
        );
    }

    /// <summary>A temporary directory keeps nothing, an audit log least of all.</summary>
    private AuditLog? OpenAudit(TimeProvider time)
    {
        if (!_options.Audit.IsEnabled || _options.DataDirectory is null)
            return null;
        string directory = Path.Combine(_directory.Path, AuditFiles.DirectoryName);
        try
        {
            return new AuditLog(
                PlatformFileSystem.Choose(),
                directory,
                _options.Audit,
                time,
                _options.ConnectionTime,
                _logger
            );
        }
        catch (IOException e)
        {
            throw new ServerStartException(
                ServerStartFailure.DataDirectory,
                $"The audit log in '{directory}' cannot be read: {e.Message}",
                e
            );
        }
    }

    private Task RaiseAsync(SecurityAction action, string detail) =>
        _security!.Events.RaiseAsync(new SecurityEvent(action, "broker", Origin.Broker, Detail: detail));

    private ServerSecurity Secure(LightQBroker broker, ISecurityEvents events)
    {
        var options = new AuthenticatorOptions(
            _options.RequireAuth,
            _options.Insecure,
            () => _limits!.Options.MaxWaitingLogins,
            () => _limits!.Options.MaxLoginsPerUser,
            CatalogConfirmation.IsPending(_directory.Path)
        );
        return new ServerSecurity(
            broker,
            broker.Replicas.Members is null
                ? AdminPassword.ReadOrCreate(_directory.Path, _logger)
                : ClusterAdminPassword.Settle(_directory.Path, broker.Users, _logger),
            options,
            _limits!.Refusals,
            events,
            _options.TimeProvider,
            _options.Cluster.TrustCatalogFor
        );
    }

    private ConnectionListener Listen(
        LightQBroker broker,
        ServerSecurity security,
        ServerLimits limits,
        ILoggerFactory loggers
    )
    {
        try
        {
            return new ConnectionListener(
                new IPEndPoint(_options.Bind, _options.DataPort),
                new DataPlaneProtocol(broker, security, limits, _options.ConnectionTime)
                {
                    Features = broker.HasReplication ? ProtocolFeatures.Cluster : 0,
                },
                limits,
                _tls,
                _options.ConnectionTime,
                loggers.CreateLogger("LightQ.Server.DataPlane")
            );
        }
        catch (SocketException e)
        {
            throw ListenSocket.Explain(e, _options.Bind, _options.DataPort, "--data-port");
        }
    }

    private void LogStart(long milliseconds)
    {
        if (!IPAddress.IsLoopback(_options.Bind))
        {
            if (_tls is null)
                ServerLog.Insecure(_logger, _options.Bind);
            if (!_options.RequireAuth)
                ServerLog.OpenToAll(_logger, _options.Bind);
        }
        StartChecks.LogFailedTopics(_broker!, _logger);
        if (_security!.Access.IsLimitedToAdmin)
            ServerLog.CatalogUnconfirmed(_logger, Path.Combine(_directory.Path, CatalogConfirmation.FileName));
        ServerLog.Ready(
            _logger,
            ServerVersion.Text,
            _listener!.EndPoint,
            _http!.ControlEndPoint,
            _http.WebEndPoint,
            _directory.Path,
            _broker!.Topics.Count(),
            milliseconds
        );
    }

    private async Task StopAndTellAsync(TimeSpan timeout)
    {
        try
        {
            _drain?.CutShort();
            await StopOnceAsync(timeout).ConfigureAwait(false);
        }
        finally
        {
            _hasStopped.TrySetResult();
        }
    }

    /// <summary>
    /// The order matters: clients first, then the ports, then what they wrote; a step that fails does not stop the
    /// next.
    /// </summary>
    private async Task StopOnceAsync(TimeSpan timeout)
    {
        await Task.Yield();
        TimeProvider time = _options.ConnectionTime;
        long began = time.GetTimestamp();
        _readiness.End();
        _broker?.BeginStop();
        await (_broker?.Replicas.LeaveAsync(timeout) ?? Task.CompletedTask).ConfigureAwait(false);
        if (_certificateWatch is not null)
            await _certificateWatch.DisposeAsync().ConfigureAwait(false);
        if (_http is not null)
        {
            await RaiseAsync(SecurityAction.BrokerStopping, $"{_listener!.Count} connections have {timeout} to end")
                .ConfigureAwait(false);
        }

        try
        {
            TimeSpan rest = TimeSpan.FromTicks(Math.Max(0, (timeout - time.GetElapsedTime(began)).Ticks));
            await Task.WhenAll(StopListenerAsync(rest), _control?.StopAsync(rest) ?? Task.CompletedTask)
                .ConfigureAwait(false);
        }
        finally
        {
            try
            {
                TimeSpan left = timeout - time.GetElapsedTime(began);
                await StopHttpAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero).ConfigureAwait(false);
            }
            finally
            {
                if (_otlp is not null)
                    await _otlp.StopAsync().ConfigureAwait(false); // The last figures are read while there is a broker.
                _meter?.Dispose();
                _nodes?.Dispose();
                _spans.Dispose();
                _security?.Dispose();
                if (_audit is not null)
                    await CloseAuditAsync(_audit).ConfigureAwait(false); // Before the directory is another broker's.
                await CloseBrokerAsync().ConfigureAwait(false);
                if (_replication is not null)
                    await _replication.DisposeAsync().ConfigureAwait(false);
                _directory.Leave(_logger);
            }
        }
    }

    private async Task StopListenerAsync(TimeSpan timeout)
    {
        if (_listener is null)
            return;
        ServerLog.Stopping(_logger, _listener.Count, timeout);
        await _listener.StopAsync(timeout).ConfigureAwait(false);
        await _listener.DisposeAsync().ConfigureAwait(false);
    }

    private async Task StopHttpAsync(TimeSpan timeout)
    {
        if (_http is null)
            return;
        await _http.StopAsync(timeout).ConfigureAwait(false);
        await _http.DisposeAsync().ConfigureAwait(false);
    }

    private async Task CloseAuditAsync(AuditLog audit)
    {
        if (_http is not null)
            audit.Write(new SecurityEvent(SecurityAction.BrokerStopped, "broker", Origin.Broker));
        await audit.DisposeAsync().ConfigureAwait(false);
    }

    private async Task CloseBrokerAsync()
    {
        if (_broker is null)
            return;
        await _broker.DisposeAsync().ConfigureAwait(false);
        ServerLog.Stopped(_logger, _directory.Path);
    }
}
