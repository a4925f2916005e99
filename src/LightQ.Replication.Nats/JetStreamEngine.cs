using System.Diagnostics;
using System.Runtime.CompilerServices;
using LightQ.Broker.Replication;
using NATS.Client.Core;
using NATS.Client.JetStream;
using NATS.Client.JetStream.Models;

namespace LightQ.Replication.Nats;

/// <summary>Replicated streams on NATS JetStream.</summary>
/// <remarks>
/// Three connections: appends and their answers have one of their own, so that none waits behind what is read in bulk,
/// and so have the channels, since a heartbeat that waits makes a node look dead. They reconnect by themselves, to
/// whichever server answers.
/// </remarks>
public sealed class JetStreamEngine : IReplicationEngine
{
    /// <summary>
    /// What an entry's headers may take of the servers' max_payload: the expected sequence is 60 bytes, and tracing
    /// adds its own.
    /// </summary>
    internal const int HeaderBytes = 1024;

    private const int NameInUse = 10058;

    private static readonly TimeSpan FiguresFor = TimeSpan.FromSeconds(2);

    private readonly NatsConnection _appends,
        _channels,
        _requests;
    private readonly SyncCheck _sync;
    private CancellationTokenSource _connected = new();
    private (long At, string Text) _figures;

    private JetStreamEngine(NatsEngineOptions options)
    {
        Options = options;
        _sync = new SyncCheck(options.Monitoring, TimeProvider.System);
        _appends = new NatsConnection(NatsSettings.Create(options, "appends"));
        _channels = new NatsConnection(NatsSettings.Create(options, "channels"));
        _requests = new NatsConnection(NatsSettings.Create(options, "requests"));
        Api = new NatsJSContext(_requests, new NatsJSOpts(_requests.Opts) { ThrowOnListCancellation = true });
        _appends.ConnectionDisconnected += OnDisconnected;
    }

    /// <inheritdoc/>
    public string Description => $"nats-server {_appends.ServerInfo?.Version}";

    /// <inheritdoc/>
    public int MaxEntryBytes { get; private set; }

    /// <summary>The version of the server that is connected, such as <c>2.12.3</c>.</summary>
    public string ServerVersion => _appends.ServerInfo?.Version ?? "";

    /// <summary>The largest message that the server takes, in bytes, with its headers.</summary>
    public int MaxPayload => MaxEntryBytes + HeaderBytes;

    internal NatsEngineOptions Options { get; }

    /// <summary>The library's requests. Each is given up after the time that fits it.</summary>
    internal NatsJSContext Api { get; }

    /// <summary>
    /// Cancelled when the connection for appends is lost: no answer will come to what was sent over it.
    /// </summary>
    internal CancellationToken Connected => Volatile.Read(ref _connected).Token;

    internal NatsConnection Appends => _appends;

    internal NatsConnection Requests => _requests;

    /// <summary>Connects to the first server that answers.</summary>
    /// <exception cref="ReplicationException">None does, or it has no JetStream.</exception>
    public static async ValueTask<JetStreamEngine> ConnectAsync(
        NatsEngineOptions options,
        CancellationToken cancellationToken
    )
    {
        var engine = new JetStreamEngine(options);
        try
        {
            await engine.ConnectAsync(cancellationToken).ConfigureAwait(false);
            return engine;
        }
        catch
        {
            await engine.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <inheritdoc/>
    public async ValueTask<IReplicatedStream> CreateStreamAsync(
        string name,
        int replicas,
        CancellationToken cancellationToken
    )
    {
        if (replicas is not (1 or 3 or 5))
            throw new ArgumentOutOfRangeException(nameof(replicas), replicas, "1, 3 or 5");
        var stream = new JetStreamStream(this, name);
        StreamConfig wanted = StreamSettings.Create(stream.Names, replicas);
        StreamConfig found = await EngineFailure
            .Guard(
                $"Create stream {name}",
                Options.ChangeTimeout,
                waiting => CreateOrFindAsync(wanted, waiting),
                cancellationToken
            )
            .ConfigureAwait(false);
        if (StreamSettings.FindDifference(wanted, found) is { } difference)
            throw new ReplicationException($"Create stream {name}: it exists, but its {difference}.");
        await EngineFailure
            .Guard($"Reach stream {name}", Options.ChangeTimeout, stream.WaitUntilReachedAsync, cancellationToken)
            .ConfigureAwait(false);
        return stream;
    }

    /// <inheritdoc/>
    public IReplicatedStream GetStream(string name) => new JetStreamStream(this, name);

    /// <inheritdoc/>
    public async ValueTask DeleteStreamAsync(string name, CancellationToken cancellationToken) =>
        await EngineFailure
            .Guard(
                $"Delete stream {new StreamNames(name).Stream}",
                Options.ChangeTimeout,
                async waiting =>
                {
                    try
                    {
                        return await Api.DeleteStreamAsync(name, waiting).ConfigureAwait(false);
                    }
                    catch (NatsJSApiException e) when (e.Error.ErrCode == EngineFailure.StreamNotFound)
                    {
                        return false;
                    }
                },
                cancellationToken
            )
            .ConfigureAwait(false);

    /// <inheritdoc/>
    public async ValueTask<string?> FindUnsyncedAsync(CancellationToken cancellationToken) =>
        await _sync.FindUnsyncedAsync(cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<EngineProblem>> FindProblemsAsync(
        IReadOnlyCollection<string> streams,
        CancellationToken cancellationToken
    )
    {
        Task<IReadOnlyList<MonitoredServer>> servers = ServerMonitoring.AskAsync(Options.Monitoring, cancellationToken);
        Task<StreamInfo?>[] infos = [.. streams.Select(name => InfoOfAsync(name, cancellationToken))];
        AccountInfoResponse? account = await AccountAsync(cancellationToken).ConfigureAwait(false);
        StreamInfo?[] found = await Task.WhenAll(infos).ConfigureAwait(false);
        return EngineInspection.Find(await servers.ConfigureAwait(false), [.. found.OfType<StreamInfo>()], account);
    }

    /// <summary>How much the servers and the account hold of what they may; remembered for a moment.</summary>
    internal async ValueTask<string> FiguresAsync(CancellationToken cancellationToken)
    {
        (long At, string Text) known = _figures;
        if (known.At != 0 && Stopwatch.GetElapsedTime(known.At) < FiguresFor)
            return known.Text;
        AccountInfoResponse? account = await AccountAsync(cancellationToken).ConfigureAwait(false);
        string text = EngineInspection.Figures(
            await ServerMonitoring.AskAsync(Options.Monitoring, cancellationToken).ConfigureAwait(false),
            account
        );
        _figures = (Stopwatch.GetTimestamp(), text);
        return text;
    }

    /// <inheritdoc/>
    public async IAsyncEnumerable<string> ListStreamsAsync(
        string prefix,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        // The library asks page after page, until one is empty; each waits as long as its connection says.
        IAsyncEnumerator<string> names = Api.ListStreamNamesAsync(cancellationToken: cancellationToken)
            .GetAsyncEnumerator(cancellationToken);
        await using (names.ConfigureAwait(false))
        {
            while (
                await EngineFailure
                    .Guard("List streams", Options.ChangeTimeout, _ => names.MoveNextAsync(), cancellationToken)
                    .ConfigureAwait(false)
            )
            {
                if (names.Current.StartsWith(prefix, StringComparison.Ordinal))
                    yield return names.Current;
            }
        }
    }

    /// <inheritdoc/>
    public async ValueTask PublishAsync(
        string channel,
        ReadOnlyMemory<byte> message,
        CancellationToken cancellationToken
    )
    {
        string subject = StreamNames.Channel(channel);
        if (_channels.ConnectionState != NatsConnectionState.Open)
            return;
        try
        {
            await _channels.PublishAsync(subject, message, cancellationToken: cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (EngineFailure.IsOfEngine(e) && !cancellationToken.IsCancellationRequested)
        {
            // It is lost, as it may be.
        }
    }

    /// <inheritdoc/>
    public async ValueTask<IAsyncDisposable> ListenAsync(
        string channel,
        Action<ReadOnlyMemory<byte>> handler,
        CancellationToken cancellationToken
    ) =>
        await EngineFailure
            .Guard(
                $"Listen to {channel}",
                Options.ChangeTimeout,
                async waiting => new ChannelListener(
                    await _channels
                        .SubscribeCoreAsync<byte[]>(StreamNames.Channel(channel), cancellationToken: waiting)
                        .ConfigureAwait(false),
                    handler
                ),
                cancellationToken
            )
            .ConfigureAwait(false);

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        _appends.ConnectionDisconnected -= OnDisconnected;
        await _appends.DisposeAsync().ConfigureAwait(false);
        await _channels.DisposeAsync().ConfigureAwait(false);
        await _requests.DisposeAsync().ConfigureAwait(false);
        await _connected.CancelAsync().ConfigureAwait(false);
    }

    /// <returns>Null when it does not answer, or is not there.</returns>
    private async Task<StreamInfo?> InfoOfAsync(string name, CancellationToken cancellationToken)
    {
        try
        {
            INatsJSStream stream = await EngineFailure
                .Guard(
                    $"State of stream {name}",
                    Options.ChangeTimeout,
                    waiting => Api.GetStreamAsync(name, cancellationToken: waiting),
                    cancellationToken
                )
                .ConfigureAwait(false);
            return stream.Info;
        }
        catch (ReplicationException)
        {
            return null;
        }
    }

    /// <returns>Null when it does not say, or may not be asked.</returns>
    private async Task<AccountInfoResponse?> AccountAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await EngineFailure
                .Guard(
                    "State of the account",
                    Options.ChangeTimeout,
                    waiting => Api.GetAccountInfoAsync(waiting),
                    cancellationToken
                )
                .ConfigureAwait(false);
        }
        catch (ReplicationException)
        {
            return null;
        }
    }

    private async ValueTask<StreamConfig> CreateOrFindAsync(StreamConfig wanted, CancellationToken cancellationToken)
    {
        INatsJSStream stream;
        try
        {
            stream = await Api.CreateStreamAsync(wanted, cancellationToken).ConfigureAwait(false);
        }
        catch (NatsJSApiException e) when (e.Error.ErrCode == NameInUse)
        {
            stream = await Api.GetStreamAsync(wanted.Name!, cancellationToken: cancellationToken).ConfigureAwait(false);
        }
        return stream.Info.Config;
    }

    private async ValueTask ConnectAsync(CancellationToken cancellationToken)
    {
        string asked = $"Connect to {string.Join(',', Options.Servers)}";
        await EngineFailure
            .Guard(
                asked,
                Options.ChangeTimeout,
                async waiting =>
                {
                    await ConnectAsync(_appends, waiting).ConfigureAwait(false);
                    await ConnectAsync(_channels, waiting).ConfigureAwait(false);
                    await ConnectAsync(_requests, waiting).ConfigureAwait(false);
                    return true;
                },
                cancellationToken
            )
            .ConfigureAwait(false);
        INatsServerInfo server = _appends.ServerInfo!;
        MaxEntryBytes = server.MaxPayload - HeaderBytes;
        if (!server.JetStreamAvailable)
            throw new ReplicationException($"{asked}: server {server.Name} has no JetStream.");
        if (MaxEntryBytes <= 0)
            throw new ReplicationException($"{asked}: server {server.Name} has a max_payload of {server.MaxPayload}.");
    }

    /// <summary>Connects, again where servers are there and do not answer in time: they are busy, or start.</summary>
    private static async ValueTask ConnectAsync(NatsConnection connection, CancellationToken waiting)
    {
        while (true)
        {
            try
            {
                await connection.ConnectAsync().AsTask().WaitAsync(waiting).ConfigureAwait(false);
                return;
            }
            catch (NatsException e) when (e.InnerException is TimeoutException && !waiting.IsCancellationRequested)
            {
                // Each attempt asks every server and waits a second.
            }
        }
    }

    private async ValueTask OnDisconnected(object? sender, NatsEventArgs e) =>
        await Interlocked.Exchange(ref _connected, new CancellationTokenSource()).CancelAsync().ConfigureAwait(false);
}
