using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;

namespace LightQ.Client;

/// <summary>
/// The settings of a <see cref="LightQClient"/>. Immutable; a value outside its range throws when it is set.
/// </summary>
public sealed record LightQClientOptions
{
    internal const int DefaultSharedProducers = 4096;

    private const int MostSharedProducers = 1_000_000;

    // All of them travel in one Hello of at most 8 KiB.
    private const int MaxTextLength = 500;

    private readonly BrokerList _otherBrokers;

    /// <summary>Name or address of the broker's machine. Default: 127.0.0.1.</summary>
    public string Host
    {
        get;
        init
        {
            ArgumentException.ThrowIfNullOrWhiteSpace(value);
            field = value;
        }
    } = "127.0.0.1";

    /// <summary>Port of the data plane, 1 to 65,535. Default: 5700.</summary>
    public int DataPort
    {
        get;
        init => field = BrokerEndpoint.Port(value);
    } = ProtocolLimits.DefaultDataPort;

    /// <summary>Port of the control plane (gRPC), 1 to 65,535. Default: 5701.</summary>
    public int ControlPort
    {
        get;
        init => field = BrokerEndpoint.Port(value);
    } = ProtocolLimits.DefaultControlPort;

    /// <summary>
    /// Further brokers of the cluster that <see cref="Host"/> belongs to. The client connects to the first broker that
    /// answers, in this order, and finds the leaders of partitions from there. Default: none.
    /// </summary>
    public IReadOnlyList<BrokerEndpoint> OtherBrokers
    {
        get => _otherBrokers.Items;
        init
        {
            ArgumentNullException.ThrowIfNull(value);
            _otherBrokers = new BrokerList([.. value]);
        }
    }

    /// <summary>The user to log in as; null for an anonymous client.</summary>
    public string? User
    {
        get;
        init => field = Short(value);
    }

    /// <summary>The user's password. Needs <see cref="User"/>.</summary>
    public string? Password
    {
        get;
        init => field = Short(value);
    }

    /// <summary>
    /// A token to log in with instead of user and password: one that
    /// <see cref="Administration.UsersClient.CreateTokenAsync"/> created, or one that a login returned.
    /// </summary>
    public string? Token
    {
        get;
        init => field = Short(value);
    }

    /// <summary>
    /// A file with the password, in the place of <see cref="Password"/>: read at each login, so that a new password
    /// needs no restart. White space around it is not part of it. Needs <see cref="User"/>.
    /// </summary>
    public string? PasswordFile { get; init; }

    /// <summary>
    /// A file with the token, in the place of <see cref="Token"/>: read at each login, so that a new token needs no
    /// restart. White space around it is not part of it. A token that has ended is then not final: the client waits for
    /// another one.
    /// </summary>
    public string? TokenFile { get; init; }

    /// <summary>
    /// Gives the password, in the place of <see cref="Password"/>; asked at each login, on the thread pool. Its token
    /// is cancelled after <see cref="ConnectTimeout"/>. Needs <see cref="User"/>.
    /// </summary>
    public Func<CancellationToken, ValueTask<string>>? PasswordProvider { get; init; }

    /// <summary>
    /// Gives the token, in the place of <see cref="Token"/>; asked at each login, on the thread pool, for example of a
    /// vault. Its token is cancelled after <see cref="ConnectTimeout"/>.
    /// </summary>
    /// <example>
    /// <code>
    /// var options = new LightQClientOptions
    /// {
    ///     TokenProvider = async cancelled =&gt; await vault.ReadAsync("lightq", cancelled),
    /// };
    /// </code>
    /// </example>
    public Func<CancellationToken, ValueTask<string>>? TokenProvider { get; init; }

    /// <summary>
    /// Whether both planes are encrypted, with TLS 1.2 or 1.3. The broker's certificate must then come from a trusted
    /// authority and be for the host that is connected to; there is no way to skip that check. If it fails, the error
    /// <see cref="ErrorCode.TlsFailed"/> gives the reason. Default: false.
    /// </summary>
    public bool Tls { get; init; }

    /// <summary>
    /// Whether passwords and tokens may be sent without <see cref="Tls"/> to a broker that is not on this machine,
    /// where the network can read them. By default nothing is sent then, and the request fails with
    /// <see cref="ErrorCode.TlsRequired"/>. A loopback address counts as this machine; a name counts as the addresses
    /// it resolves to. Default: false.
    /// </summary>
    public bool Insecure { get; init; }

    /// <summary>
    /// A PEM file with the certificate authorities to trust, and no others; null for the machine's own list. Read at
    /// every connect. Needs <see cref="Tls"/>.
    /// </summary>
    public string? CertificateAuthorityFile { get; init; }

    /// <summary>
    /// A PEM file with this client's own certificate, for brokers that ask for one, followed by its intermediate
    /// certificates. Read at every connect. Needs <see cref="Tls"/>.
    /// </summary>
    public string? ClientCertificateFile { get; init; }

    /// <summary>
    /// A PEM file with the unencrypted private key of <see cref="ClientCertificateFile"/>; null when it is in the same
    /// file.
    /// </summary>
    public string? ClientKeyFile { get; init; }

    /// <summary>The name of this client in the broker's log and statistics. Default: the process's name.</summary>
    public string ClientName
    {
        get;
        init
        {
            ArgumentNullException.ThrowIfNull(value);
            field = Short(value)!;
        }
    } =
        AppDomain.CurrentDomain.FriendlyName is { Length: <= MaxTextLength } name
            ? name
            : AppDomain.CurrentDomain.FriendlyName[..MaxTextLength];

    /// <summary>How long one attempt to connect, handshake included, may take. Default: 5 s.</summary>
    public TimeSpan ConnectTimeout
    {
        get;
        init => field = Positive(value);
    } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Whether the first call waits for a broker that does not run yet. By default it fails with
    /// <see cref="ErrorCode.Unavailable"/> as soon as the first attempt does. A connection that existed once is always
    /// restored. A host with such a client also starts without the broker: its topics, producers and processors follow
    /// when the broker runs.
    /// </summary>
    public bool WaitForBroker { get; init; }

    /// <summary>
    /// Upper bound of the first delay before reconnecting; the bound doubles with every attempt, and the delay is a
    /// random part of it. Default: 100 ms.
    /// </summary>
    public TimeSpan ReconnectDelay
    {
        get;
        init => field = Positive(value);
    } = TimeSpan.FromMilliseconds(100);

    /// <summary>The most that <see cref="ReconnectDelay"/> grows to. Default: 5 s.</summary>
    public TimeSpan MaxReconnectDelay
    {
        get;
        init => field = Positive(value);
    } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// How many producers <c>PublishAsync</c> of the client keeps open, one for each topic: 1 to 1,000,000. Default:
    /// 4,096. When more topics are published to, the producer that was not used for longest is closed first, and opened
    /// again when it is needed: such a publish takes a round trip more. A producer with messages under way is not
    /// closed. Each takes some memory here and at the broker, which also limits the streams of a connection.
    /// </summary>
    public int MaxSharedProducers
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 1);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, MostSharedProducers);
            field = value;
        }
    } = DefaultSharedProducers;

    /// <summary>How the connection receives. Default: on a thread of its own.</summary>
    public ReceiveMode ReceiveMode { get; init; }

    /// <summary>Where the client logs; null for no log.</summary>
    public ILoggerFactory? LoggerFactory { get; init; }

    /// <summary>The clock for heartbeats and delays.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>
    /// The clock of the connection: heartbeats, time-outs, delays before reconnecting. Another than
    /// <see cref="TimeProvider"/> where that one jumps, as no broker could answer in time.
    /// </summary>
    internal TimeProvider ConnectionTime
    {
        get => field ?? TimeProvider;
        init;
    }

    /// <summary>Whether it logs in with a token.</summary>
    internal bool HasToken => Token is not null || TokenFile is not null || TokenProvider is not null;

    /// <summary>Whether each login may have another secret: one that is refused is not the last word.</summary>
    internal bool HasSecretSource =>
        (TokenFile ?? PasswordFile) is not null || TokenProvider is not null || PasswordProvider is not null;

    /// <summary>All brokers, this one first.</summary>
    internal IEnumerable<BrokerEndpoint> Brokers =>
        OtherBrokers.Prepend(
            new BrokerEndpoint
            {
                Host = Host,
                DataPort = DataPort,
                ControlPort = ControlPort,
            }
        );

    /// <summary>
    /// Reads a connection string:
    /// <c>lightq://[user[:password]@]host[:data-port][,host[:data-port]…][?control=PORT[,PORT…]&amp;tls=true&amp;ca=FILE&amp;cert=FILE&amp;key=FILE&amp;token=TOKEN&amp;insecure=true&amp;producers=N]</c>.
    /// </summary>
    /// <param name="connectionString">
    /// User, password and files are percent-encoded where necessary. Several hosts are brokers of one cluster; control
    /// ports are then one for all, or one for each host in their order.
    /// </param>
    /// <exception cref="ArgumentException">The string is not of that form; the message says where.</exception>
    public static LightQClientOptions Parse(string connectionString) => ConnectionString.Parse(connectionString);

    /// <summary>The connection string without password and token.</summary>
    public override string ToString() => ConnectionString.Format(this);

    /// <summary>The same for one broker alone.</summary>
    internal LightQClientOptions For(string host, int dataPort, int controlPort) =>
        this with
        {
            Host = host,
            DataPort = dataPort,
            ControlPort = controlPort,
            OtherBrokers = [],
        };

    /// <summary>The same for each of the brokers alone.</summary>
    internal LightQClientOptions[] ForEach() =>
        OtherBrokers.Count == 0
            ? [this]
            : [.. Brokers.Select(broker => For(broker.Host, broker.DataPort, broker.ControlPort))];

    /// <summary>What a connection with these options says first.</summary>
    internal HelloFrame ToHello() =>
        new(
            ProtocolLimits.Version,
            ProtocolLimits.Version,
            ProtocolFeatures.Cluster
                | ProtocolFeatures.Window
                | ProtocolFeatures.RefusedAlone
                | ProtocolFeatures.BrokerClock,
            ClientName,
            Token is not null ? HelloFrame.Token
                : User is null ? HelloFrame.Anonymous
                : HelloFrame.Plain,
            Token ?? (User is null ? "" : $"{User}\0{Password}")
        );

    /// <summary>
    /// Refuses a broker that is given twice, and files for TLS without TLS: whoever names them believes to be
    /// encrypted.
    /// </summary>
    internal void Check()
    {
        var seen = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        foreach (BrokerEndpoint broker in Brokers)
        {
            if (!seen.Add(broker.ToString()))
                throw new ArgumentException($"The broker {broker} is given twice.");
        }

        if (!Tls && (CertificateAuthorityFile ?? ClientCertificateFile ?? ClientKeyFile) is not null)
            throw new ArgumentException("The files ca, cert and key are for TLS: give tls=true too.");
        if (ClientKeyFile is not null && ClientCertificateFile is null)
        {
            throw new ArgumentException(
                "A key file is given without the certificate it belongs to: give cert=FILE too."
            );
        }

        CheckSecrets();
    }

    private void CheckSecrets()
    {
        string[] tokens = Given(
                (nameof(Token), Token),
                (nameof(TokenFile), TokenFile),
                (nameof(TokenProvider), TokenProvider)
            ),
            passwords = Given(
                (nameof(Password), Password),
                (nameof(PasswordFile), PasswordFile),
                (nameof(PasswordProvider), PasswordProvider)
            );
        if (tokens.Length > 1 || passwords.Length > 1)
        {
            string[] several = tokens.Length > 1 ? tokens : passwords;
            throw new ArgumentException($"{string.Join(" and ", several)} are given: give one of them.");
        }

        if (User is null && passwords is [not nameof(Password)])
            throw new ArgumentException($"{passwords[0]} is given without a user: give {nameof(User)}, too.");

        static string[] Given(params (string Name, object? Value)[] options) =>
            [.. options.Where(static o => o.Value is not null).Select(static o => o.Name)];
    }

    private static string? Short(string? value) =>
        value is null || value.Length <= MaxTextLength
            ? value
            : throw new ArgumentException($"The text has at most {MaxTextLength} characters.", nameof(value));

    private static TimeSpan Positive(TimeSpan value) =>
        value > TimeSpan.Zero
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "The time must be above zero.");
}
