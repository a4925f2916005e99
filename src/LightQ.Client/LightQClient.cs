using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Authentication;
using LightQ.Client.Administration;
using LightQ.Client.Batches;
using LightQ.Client.Connections;
using LightQ.Client.Consuming;
using LightQ.Client.Encryption;
using LightQ.Client.Publishing;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Client;

/// <summary>A connection to a LightQ broker, or to a cluster: create one per application and keep it.</summary>
/// <remarks>
/// Thread-safe. Connects on first use. Reconnects by itself with growing, jittered delays, and then resumes producers
/// and subscriptions. In a cluster it connects to each broker that leads a partition it uses, and follows partitions to
/// their next leaders.
/// </remarks>
/// <example>
/// <code>
/// await using var client = new LightQClient("lightq://localhost");
/// await client.PublishAsync("orders", "hello"u8);
///
/// await foreach (Message message in client.ConsumeAsync("orders", new() { Start = StartPosition.Earliest }))
///     Console.WriteLine($"{message.Offset}: {message.GetText()}");
/// </code>
/// </example>
public sealed class LightQClient : IAsyncDisposable, IDisposable
{
    // 4 MiB.
    private const int SharedBatchesKept = 64;

    private readonly BrokerLinks _links;
    private readonly ControlChannel _control;
    private readonly ClientEvents _events;
    private readonly SharedProducers _producers;

    /// <summary>Creates a client; does not connect yet.</summary>
    /// <param name="connectionString">
    /// <c>lightq://[user[:password]@]host[:data-port][,host[:data-port]…][?control=PORT[,PORT…]&amp;tls=true&amp;ca=FILE&amp;cert=FILE&amp;key=FILE&amp;token=TOKEN&amp;insecure=true&amp;producers=N]</c>.
    /// </param>
    /// <exception cref="ArgumentException">The string is not of that form.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.InvalidArgument"/>: a file that it names for TLS cannot be used.
    /// </exception>
    public LightQClient(string connectionString)
        : this(LightQClientOptions.Parse(connectionString)) { }

    /// <summary>Creates a client; does not connect yet.</summary>
    /// <param name="options">The broker to connect to, and how.</param>
    /// <exception cref="ArgumentException">They name files for TLS without asking for TLS.</exception>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.InvalidArgument"/>: a file that they name for TLS cannot be used.
    /// </exception>
    public LightQClient(LightQClientOptions options)
        : this(options, null) { }

    /// <summary>The same with another way to find leaders.</summary>
    internal LightQClient(LightQClientOptions options, ILeaderDirectory? leaders)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Check();
        Options = options;
        ILogger logger = options.LoggerFactory?.CreateLogger("LightQ.Client") ?? NullLogger.Instance;
        _events = new ClientEvents(this, logger);
        _control = new ControlChannel(options);
        _links = new BrokerLinks(options, _control.Brokers, _events, logger, leaders ?? new LeaderDirectory(_control));
        var batches = new SendBatchPool(
            new ProducerOptions().BatchBytes,
            SharedBatchesKept,
            options.TimeProvider,
            startsSmall: true
        );
        _producers = new SharedProducers(
            (topic, cancelled) => OpenProducerAsync(topic, new ProducerOptions(), batches, cancelled),
            options.MaxSharedProducers
        );
        Topics = new TopicsClient(_control);
        Stats = new StatsClient(_control);
        Groups = new GroupsClient(_control);
        Messages = new MessagesClient(_control);
        DeadLetters = new DeadLettersClient(_control);
        Users = new UsersClient(_control);
        Operations = new OperationsClient(_control);
        Cluster = new ClusterClient(_control);
    }

    /// <summary>
    /// Raised for every change of <see cref="State"/>, one after the other and in order, on the thread pool. The client
    /// goes on when the handler returns. Raised again with the same state when a broker rejects an attempt to connect,
    /// for example because of a certificate, and the previous attempt failed with another code. An exception of a
    /// handler is logged.
    /// </summary>
    public event EventHandler<ConnectionStateChangedEventArgs>? ConnectionStateChanged
    {
        add => _events.ConnectionStateChanged += value;
        remove => _events.ConnectionStateChanged -= value;
    }

    /// <summary>
    /// Raised when a broker is about to end a connection, before the change of state that follows. Nothing has to
    /// be done: producers send nothing new from now on, and resume on the next connection, as subscriptions do. Raised
    /// on the receiving thread: handlers must not block. An exception of a handler is logged.
    /// </summary>
    public event EventHandler<GoingAwayEventArgs>? GoingAway
    {
        add => _events.GoingAway += value;
        remove => _events.GoingAway -= value;
    }

    /// <summary>
    /// Raised once when a producer of this client has ended although the application did not close it: it takes no
    /// messages any more. A producer that a host runs, and one behind <c>PublishAsync</c> of the client, is followed by
    /// another one when the cause is gone. Raised on the thread pool. An exception of a handler is logged.
    /// </summary>
    public event EventHandler<ProducerEndedEventArgs>? ProducerEnded
    {
        add => _events.ProducerEnded += value;
        remove => _events.ProducerEnded -= value;
    }

    /// <summary>
    /// Raised when a subscription of this client will not get some messages. Raised in order, between the messages
    /// before and after them, on the thread that enumerates; several subscriptions may raise it at the same time. An
    /// exception of a handler ends that enumeration.
    /// </summary>
    public event EventHandler<MessageGap>? GapDetected
    {
        add => _events.GapDetected += value;
        remove => _events.GapDetected -= value;
    }

    /// <summary>
    /// Raised when the broker has ended a subscription of this client because it was too slow. Raised when the client
    /// learns of it: the enumeration first hands out what was delivered before, and then throws. Raised on the
    /// receiving thread: handlers must not block. An exception of a handler is logged. A subscription that loses
    /// messages but is not ended gets a gap instead.
    /// </summary>
    public event EventHandler<SlowConsumerEventArgs>? SlowConsumerDetected
    {
        add => _events.SlowConsumerDetected += value;
        remove => _events.SlowConsumerDetected -= value;
    }

    /// <summary>
    /// Raised when a consumer of all partitions of a topic goes on without a partition that the broker does not serve:
    /// the broker could not open it at its start, or its disk has failed since. Every later connection asks for the
    /// partition again, and the event is raised again if the broker still rejects it. Raised on the receiving thread:
    /// handlers must not block. An exception of a handler is logged. With <see cref="GapAction.Throw"/> the enumeration
    /// ends instead.
    /// </summary>
    public event EventHandler<PartitionRefusedEventArgs>? PartitionRefused
    {
        add => _events.PartitionRefused += value;
        remove => _events.PartitionRefused -= value;
    }

    /// <summary>The options that the client was created with.</summary>
    public LightQClientOptions Options { get; }

    /// <summary>
    /// Whether the client is connected at the moment. In a cluster it is while it has a connection to any broker.
    /// </summary>
    public ConnectionState State => _events.State;

    /// <summary>Messages that subscriptions of this client skipped because their time to live had passed.</summary>
    public long MessagesExpired => _events.MessagesExpired;

    /// <summary>Creates, describes, lists and deletes topics.</summary>
    public TopicsClient Topics { get; }

    /// <summary>How many brokers it knows: those of the options, and those that a cluster has named.</summary>
    internal int KnownBrokers => _links.BrokerCount;

    /// <summary>Reads the figures of topics and of the broker.</summary>
    public StatsClient Stats { get; }

    /// <summary>Describes, resets, pauses and deletes consumer groups.</summary>
    public GroupsClient Groups { get; }

    /// <summary>Shows what topics hold, and publishes stored messages again.</summary>
    public MessagesClient Messages { get; }

    /// <summary>Lists, redrives, deletes and republishes single dead letters of groups.</summary>
    public DeadLettersClient DeadLetters { get; }

    /// <summary>Creates users, grants rights, and creates tokens.</summary>
    public UsersClient Users { get; }

    /// <summary>
    /// Stops the broker, reloads its configuration, and takes backups; of several brokers, the first of the options.
    /// </summary>
    public OperationsClient Operations { get; }

    /// <summary>Tells the nodes of a cluster and the leaders of partitions, and moves these.</summary>
    public ClusterClient Cluster { get; }

    /// <summary>Where everything of this client logs.</summary>
    internal ILogger Logger => _links.Logger;

    /// <summary>
    /// Why the broker cannot be reached at the moment, while it is tried again and again; null when it can, or has not
    /// been tried.
    /// </summary>
    internal LightQException? Absence => _links.Absence;

    /// <summary>Connects now, instead of with the first request.</summary>
    /// <param name="cancellationToken">Ends the wait; the client goes on connecting.</param>
    /// <exception cref="LightQException">
    /// The first attempt failed; <see cref="ErrorCode.Unavailable"/> when no broker answered.
    /// </exception>
    public Task ConnectAsync(CancellationToken cancellationToken = default) => _links.ConnectAsync(cancellationToken);

    /// <summary>
    /// The same, but a client that waits for its broker waits for one attempt only; if that failed,
    /// <see cref="Absence"/> says why.
    /// </summary>
    internal Task AttemptAsync(CancellationToken cancellationToken) => _links.AttemptAsync(cancellationToken);

    /// <summary>
    /// Measures the round trip to the broker, over the connection of the data plane, after what is already being sent
    /// on it.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// There is no connection and none can be made, or it ended before the answer came.
    /// </exception>
    public Task<TimeSpan> PingAsync(CancellationToken cancellationToken = default) =>
        _links.PingAsync(cancellationToken);

    /// <summary>
    /// Publishes a message and waits for its ack, with a producer that the client opens at the first publish to a
    /// topic, and keeps.
    /// </summary>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="body">The body; copied before the method returns.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null.</param>
    /// <param name="options">When the message is delivered, how long it is of use, and its id.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>
    /// Completes, on the thread pool, when the message is as safe as the topic's ack level requires. Waits for room
    /// when the producer's window is full. Await it once.
    /// </returns>
    /// <remarks>
    /// The producer is anonymous and has the default <see cref="ProducerOptions"/>; order, windows and errors are those
    /// of <see cref="Producer"/>. When a producer has failed for good, because its topic was deleted or a right
    /// was revoked, the next publish replaces it. The client keeps <see cref="LightQClientOptions.MaxSharedProducers"/>
    /// of them; for another topic, it closes the least recently used one that has nothing under way. For a producer
    /// with a name, for batches, or to publish without waiting, create a <see cref="Producer"/>.
    /// </remarks>
    /// <exception cref="ArgumentException">The topic's name is not valid.</exception>
    /// <exception cref="LightQException">
    /// The topic is unknown, a right is missing, the message was rejected, or its outcome is unknown.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The client is disposed.</exception>
    [OverloadResolutionPriority(2)]
    public ValueTask<PublishAck> PublishAsync(
        string topic,
        ReadOnlyMemory<byte> body,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    ) => _producers.PublishAsync(topic, body.Span, key, headers, options, cancellationToken);

    /// <inheritdoc cref="PublishAsync(string, ReadOnlyMemory{byte}, MessageKey, MessageHeaders?, PublishOptions, CancellationToken)"/>
    [OverloadResolutionPriority(1)]
    public ValueTask<PublishAck> PublishAsync(
        string topic,
        ReadOnlySpan<byte> body,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    ) => _producers.PublishAsync(topic, body, key, headers, options, cancellationToken);

    /// <summary>
    /// Publishes a value and waits for its ack, with a producer that the client opens at the first publish to a topic,
    /// and keeps.
    /// </summary>
    /// <typeparam name="T">The type of the value.</typeparam>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="value">The value; serialized before the method returns.</param>
    /// <param name="serializer">Writes the body, and names its content type.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null. A content type in them replaces the serializer's.</param>
    /// <param name="options">When the message is delivered, how long it is of use, and its id.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>
    /// As for
    /// <see cref="PublishAsync(string, ReadOnlyMemory{byte}, MessageKey, MessageHeaders?, PublishOptions, CancellationToken)"/>.
    /// Remarks and errors are the same.
    /// </returns>
    /// <exception cref="LightQException">
    /// The message was rejected, or its outcome is unknown. An exception of the serializer is thrown as it is, and
    /// nothing is published.
    /// </exception>
    public ValueTask<PublishAck> PublishAsync<T>(
        string topic,
        T value,
        IMessageSerializer<T> serializer,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(serializer);
        var body = new ArrayBufferWriter<byte>();
        serializer.Serialize(value, body);
        headers = MessageHeaders.WithContentType(headers, serializer.ContentType);
        return _producers.PublishAsync(topic, body.WrittenSpan, key, headers, options, cancellationToken);
    }

    /// <summary>
    /// The same with <see cref="MessageSerializer.Default{T}"/>: text as UTF-8, any other value as JSON, by reflection.
    /// </summary>
    /// <typeparam name="T">The type of the value.</typeparam>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="value">The value; serialized before the method returns.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null. A content type in them replaces the serializer's.</param>
    /// <param name="options">When the message is delivered, how long it is of use, and its id.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>
    /// As for
    /// <see cref="PublishAsync(string, ReadOnlyMemory{byte}, MessageKey, MessageHeaders?, PublishOptions, CancellationToken)"/>.
    /// Remarks and errors are the same.
    /// </returns>
    /// <exception cref="LightQException">
    /// The message was rejected, or its outcome is unknown. An exception of the serializer is thrown as it is, and
    /// nothing is published.
    /// </exception>
    /// <example>
    /// <code>
    /// await client.PublishAsync("orders", new Order("42", 9.99m), key: "42");
    /// </code>
    /// </example>
    [RequiresUnreferencedCode(MessageSerializer.Reflection)]
    [RequiresDynamicCode(MessageSerializer.Reflection)]
    public ValueTask<PublishAck> PublishAsync<T>(
        string topic,
        T value,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    ) => PublishAsync(topic, value, MessageSerializer.Default<T>(), key, headers, options, cancellationToken);

    /// <summary>Opens a producer.</summary>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="options">How it sends; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// The topic is unknown, a right is missing, or the broker cannot be reached.
    /// </exception>
    public Task<Producer> CreateProducerAsync(
        string topic,
        ProducerOptions? options = null,
        CancellationToken cancellationToken = default
    ) => OpenProducerAsync(topic, options ?? new ProducerOptions(), null, cancellationToken);

    /// <summary>Opens a producer of values.</summary>
    /// <typeparam name="T">The type of the published values.</typeparam>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="serializer">Writes the bodies.</param>
    /// <param name="options">How it sends; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// The topic is unknown, a right is missing, or the broker cannot be reached.
    /// </exception>
    public async Task<Producer<T>> CreateProducerAsync<T>(
        string topic,
        IMessageSerializer<T> serializer,
        ProducerOptions? options = null,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(serializer);
        return new Producer<T>(
            await CreateProducerAsync(topic, options, cancellationToken).ConfigureAwait(false),
            serializer
        );
    }

    /// <summary>Consumes messages, one by one.</summary>
    /// <param name="topic">The topic's name, for all its partitions; <c>orders/3</c> names one of them.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <param name="cancellationToken">
    /// Ends every enumeration, with an <see cref="OperationCanceledException"/>. The token that <c>WithCancellation</c>
    /// passes does the same for one enumeration.
    /// </param>
    /// <returns>
    /// The messages, without an end: in the order of their offsets within a partition, and between partitions as they
    /// arrive. Each enumeration is a subscription of its own. Its first step opens the subscription; leaving the loop
    /// closes it.
    /// </returns>
    /// <exception cref="LightQException">
    /// From the enumeration: the topic is unknown, a right is missing, or the broker ended the subscription or
    /// cannot be reached.
    /// </exception>
    /// <example>
    /// <code>
    /// await foreach (Message message in client.ConsumeAsync("orders", cancellationToken: stopping))
    ///     Handle(message.Key, message.Body);
    /// </code>
    /// </example>
    public IAsyncEnumerable<Message> ConsumeAsync(
        string topic,
        ConsumeOptions? options = null,
        CancellationToken cancellationToken = default
    ) => Consume(topic, options, cancellationToken);

    /// <summary>Consumes messages, one by one, with the values of their bodies.</summary>
    /// <typeparam name="T">The type of the published values.</typeparam>
    /// <param name="topic">The topic's name, for all its partitions; <c>orders/3</c> names one of them.</param>
    /// <param name="serializer">Reads the bodies.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <param name="cancellationToken">
    /// Ends every enumeration, with an <see cref="OperationCanceledException"/>.
    /// </param>
    /// <returns>
    /// As for <see cref="ConsumeAsync(string, ConsumeOptions?, CancellationToken)"/>. A body that cannot be read as a
    /// value does not end the enumeration: <see cref="Message{T}.Value"/> of its message throws.
    /// </returns>
    /// <exception cref="LightQException">
    /// As for <see cref="ConsumeAsync(string, ConsumeOptions?, CancellationToken)"/>.
    /// </exception>
    public IAsyncEnumerable<Message<T>> ConsumeAsync<T>(
        string topic,
        IMessageSerializer<T> serializer,
        ConsumeOptions? options = null,
        CancellationToken cancellationToken = default
    )
    {
        ArgumentNullException.ThrowIfNull(serializer);
        ConsumeStream messages = Consume(topic, options, cancellationToken);
        return new TypedStream<T>(messages, AddressArgument.Parse(topic, null).Topic, serializer);
    }

    /// <summary>
    /// The same with <see cref="MessageSerializer.Default{T}"/>: text as UTF-8, any other value as JSON, by reflection.
    /// </summary>
    /// <typeparam name="T">The type of the published values.</typeparam>
    /// <param name="topic">The topic's name, for all its partitions; <c>orders/3</c> names one of them.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <param name="cancellationToken">
    /// Ends every enumeration, with an <see cref="OperationCanceledException"/>.
    /// </param>
    /// <returns>
    /// As for <see cref="ConsumeAsync{T}(string, IMessageSerializer{T}, ConsumeOptions?, CancellationToken)"/>.
    /// </returns>
    /// <exception cref="LightQException">
    /// As for <see cref="ConsumeAsync(string, ConsumeOptions?, CancellationToken)"/>.
    /// </exception>
    /// <example>
    /// <code>
    /// await foreach (Message&lt;Order&gt; order in client.ConsumeAsync&lt;Order&gt;("orders"))
    ///     Handle(order.Value);
    /// </code>
    /// </example>
    [OverloadResolutionPriority(1)]
    [RequiresUnreferencedCode(MessageSerializer.Reflection)]
    [RequiresDynamicCode(MessageSerializer.Reflection)]
    public IAsyncEnumerable<Message<T>> ConsumeAsync<T>(
        string topic,
        ConsumeOptions? options = null,
        CancellationToken cancellationToken = default
    ) => ConsumeAsync(topic, MessageSerializer.Default<T>(), options, cancellationToken);

    /// <summary>
    /// Consumes whole batches, as the producers made them, in the memory they were received in: the fastest way.
    /// </summary>
    /// <param name="topic">The topic's name, for all its partitions; <c>orders/3</c> names one of them.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <param name="cancellationToken">
    /// Ends every enumeration, with an <see cref="OperationCanceledException"/>.
    /// </param>
    /// <returns>
    /// The batches, without an end: in the order of their offsets within a partition, and between partitions as they
    /// arrive. A batch is a view that ends with the next one: reading it later throws.
    /// </returns>
    /// <exception cref="LightQException">
    /// As for <see cref="ConsumeAsync(string, ConsumeOptions?, CancellationToken)"/>.
    /// </exception>
    /// <example>
    /// <code>
    /// await foreach (MessageBatch batch in client.ConsumeBatchesAsync("orders"))
    /// {
    ///     foreach (RecordView record in batch)
    ///         Handle(record.Body);
    /// }
    /// </code>
    /// </example>
    public IAsyncEnumerable<MessageBatch> ConsumeBatchesAsync(
        string topic,
        ConsumeOptions? options = null,
        CancellationToken cancellationToken = default
    ) => Consume(topic, options, cancellationToken);

    /// <summary>
    /// Creates a processor, which hands the messages of a group to a handler, several at a time; opens nothing yet. It
    /// always settles explicitly (<see cref="SettleMode.Explicit"/>): messages that were not settled when this program
    /// dies are redelivered.
    /// </summary>
    /// <param name="topic">
    /// The name of a durable topic, for all its partitions; <c>orders/3</c> names one of them.
    /// </param>
    /// <param name="group">The group to join.</param>
    /// <param name="options">How it works; null for the defaults.</param>
    /// <exception cref="ArgumentException">A name is not valid.</exception>
    public LightQProcessor CreateProcessor(string topic, string group, ProcessorOptions? options = null) =>
        new(this, topic, group, options ?? new ProcessorOptions());

    /// <summary>
    /// The TLS settings of a client: the authorities it trusts and the certificate it shows. For a program that uses a
    /// client of its own, such as gRPC or HTTP, on the broker's ports.
    /// </summary>
    /// <param name="options">The client's options.</param>
    /// <returns>
    /// A new object, with TLS 1.2 and 1.3, whether <see cref="LightQClientOptions.Tls"/> is set or not. A certificate
    /// that is not accepted ends the handshake with an <see cref="AuthenticationException"/> that gives the reason.
    /// </returns>
    /// <exception cref="LightQException"><see cref="ErrorCode.InvalidArgument"/>: a file cannot be used.</exception>
    public static SslClientAuthenticationOptions LoadTls(LightQClientOptions options) => ClientTls.Load(options);

    /// <summary>
    /// Creates a consumer from which the caller fetches messages, some at a time, instead of enumerating it; opens
    /// nothing yet.
    /// </summary>
    /// <param name="topic">The topic's name, for all its partitions; <c>orders/3</c> names one of them.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <exception cref="ArgumentException">The name is not valid, or the options contradict each other.</exception>
    public MessageConsumer CreateConsumer(string topic, ConsumeOptions? options = null)
    {
        options ??= new ConsumeOptions();
        var window = new InFlightWindow(0);
        return new MessageConsumer(
            Consume(topic, options, default, window),
            window,
            Options.TimeProvider,
            options.MaxLockRenewal
        );
    }

    /// <summary>
    /// Closes the client's own producers, waiting up to 5 s for their messages under way, and then the connection.
    /// Publishes that are still under way fail with <see cref="ErrorCode.Closed"/>, and enumerations end with it.
    /// Dispose your own producers before.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        await _producers.DisposeAsync().ConfigureAwait(false);
        await _links.DisposeAsync().ConfigureAwait(false);
        _control.Dispose();
    }

    /// <summary>
    /// The same, blocking until the connection's threads have ended. Prefer <see cref="DisposeAsync"/>.
    /// </summary>
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();

    internal ConsumeStream Consume(
        string topic,
        ConsumeOptions? options,
        CancellationToken cancellationToken,
        InFlightWindow? window = null
    )
    {
        options ??= new ConsumeOptions();
        TopicAddress address = AddressArgument.Parse(topic, options.Partition);
        options = options with { Partition = address.Partition };
        if (options.Start.Kind == StartKind.Committed && options.Group is null)
        {
            throw new ArgumentException(
                "A subscription starts at the committed position only as a member of a group.",
                nameof(options)
            );
        }

        if (options.MaxInFlight != 0 && (options.Group is null || options.SettleMode != SettleMode.Explicit))
        {
            throw new ArgumentException(
                $"{nameof(ConsumeOptions.MaxInFlight)} is for members of a group with "
                    + $"{nameof(SettleMode)}.{nameof(SettleMode.Explicit)}.",
                nameof(options)
            );
        }

        options.CheckReader();
        return new ConsumeStream(
            (loop, cancelled) => SubscribeAsync(loop, address.Topic, options, cancelled),
            window,
            cancellationToken
        );
    }

    private async Task<Consumer> SubscribeAsync(
        ILoop loop,
        string topic,
        ConsumeOptions options,
        CancellationToken cancellationToken
    )
    {
        await _links.ConnectAsync(cancellationToken).ConfigureAwait(false);
        var consumer = new Consumer(_links, topic, options, _events, loop);
        await consumer.OpenAsync(cancellationToken).ConfigureAwait(false);
        return consumer;
    }

    private async Task<Producer> OpenProducerAsync(
        string topic,
        ProducerOptions options,
        SendBatchPool? batches,
        CancellationToken cancellationToken
    )
    {
        TopicAddress address = AddressArgument.Parse(topic, options.Partition);
        await _links.ConnectAsync(cancellationToken).ConfigureAwait(false);
        var opener = new ProducerOpener(_links, address.Topic, options with { Partition = address.Partition }, batches);
        return await opener.OpenAsync(cancellationToken).ConfigureAwait(false);
    }
}
