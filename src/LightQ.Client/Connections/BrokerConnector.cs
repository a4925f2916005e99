using LightQ.Client.Timing;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Connections;

/// <summary>Connects to one broker, or to the first of the client's brokers that answers.</summary>
/// <remarks>What it awaits continues where it was called: on the client's own thread, if it has one.</remarks>
internal sealed class BrokerConnector(
    LightQClientOptions options,
    KnownBrokers brokers,
    ClientEvents events,
    ILogger logger,
    CancellationToken closing
)
{
    private readonly TokenWatch _tokens = new(options, logger, closing);
    private int _next;

    public ReceiveBlockPool Blocks { get; } = new();

    /// <summary>How many brokers the client knows.</summary>
    public int Count => brokers.Count;

    /// <summary>One of the brokers that the client knows, in turn.</summary>
    public LightQClientOptions Broker(int turn) => brokers[turn];

    /// <summary>The broker that was connected is tried last.</summary>
    public void OnLost() => _next++;

    /// <summary>Tries each of the brokers once, in turn.</summary>
    /// <exception cref="LightQException">None of them can be connected to; the message says why of each.</exception>
    public async Task<Connection> ConnectAnyAsync()
    {
        var failures = new List<LightQException>();
        LightQClientOptions[] all = brokers.InTurn(_next);
        foreach (LightQClientOptions broker in all)
        {
            try
            {
                Connection connection = await ConnectAsync(broker).ConfigureAwait(true);
                _next = brokers.PlaceOf(broker);
                return connection;
            }
            catch (LightQException e) when (all.Length > 1 && !closing.IsCancellationRequested)
            {
                failures.Add(e);
            }
        }
        throw Together(failures);
    }

    /// <summary>Connects to one broker, handshake included.</summary>
    /// <exception cref="LightQException">It cannot be connected to, or the client is being closed.</exception>
    public async Task<Connection> ConnectAsync(LightQClientOptions broker)
    {
        LightQClientOptions login = await ReadSecretsAsync(broker).ConfigureAwait(true);
        Connection connection =
            login.ReceiveMode == ReceiveMode.Thread
                ? new BlockingConnection(login, login.ToHello(), Blocks, events)
                : new AsyncConnection(login, login.ToHello(), Blocks, events);
        using ITimer late = ClientTimer.Create(
            broker.ConnectionTime,
            _ =>
                connection.Fail(
                    new LightQException(
                        ErrorCode.Unavailable,
                        $"No broker answered at {broker} within {broker.ConnectTimeout.TotalSeconds:0.###} s."
                    )
                ),
            null
        );
        using CancellationTokenRegistration ending = closing.UnsafeRegister(
            _ => connection.Fail(BrokerLinks.ClosedByClient()),
            null
        );
        late.Change(broker.ConnectTimeout, Timeout.InfiniteTimeSpan);
        connection.Start();
        WelcomeFrame welcome = await connection.Welcomed.ConfigureAwait(true);
        ClientLog.Connected(logger, broker.ToString(), welcome.ConnectionId);
        _tokens.OnWelcome(welcome);
        return connection;
    }

    private async ValueTask<LightQClientOptions> ReadSecretsAsync(LightQClientOptions broker)
    {
        try
        {
            return await LoginSecrets.ReadAsync(broker, closing).ConfigureAwait(true);
        }
        catch (OperationCanceledException)
        {
            throw BrokerLinks.ClosedByClient();
        }
    }

    /// <summary>
    /// One reason of several: another attempt is in vain only when that is so of all of them.
    /// </summary>
    private LightQException Together(List<LightQException> failures)
    {
        LightQException first = failures.Find(e => !IsFinal(options, e.Code)) ?? failures[0];
        return new LightQException(
            first.Code,
            $"No broker of {options} can be reached. {string.Join(' ', failures.Select(e => e.Message))}",
            first
        );
    }

    /// <summary>
    /// Whether a broker that refuses a login like this, or may not be told it, will do so again: waiting helps only
    /// where no broker answers, and where the next login may have another secret.
    /// </summary>
    public static bool IsFinal(LightQClientOptions options, ErrorCode code) =>
        code == ErrorCode.TlsRequired || (code == ErrorCode.Unauthenticated && !options.HasSecretSource);
}
