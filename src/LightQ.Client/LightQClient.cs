using LightQ.Client.Administration;
using LightQ.Client.Connections;
using LightQ.Client.Consuming;
using LightQ.Client.Publishing;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Client;

/// <summary>A connection to a LightQ broker: make one per application and keep it.</summary>
/// <remarks>
/// Thread-safe. Connects when something is first asked of it, reconnects by itself with growing, jittered delays, and resumes
/// producers and subscriptions then.
/// </remarks>
/// <example>
/// <code>
/// await using var client = new LightQClient("lightq://localhost");
/// await using Producer producer = await client.CreateProducerAsync("orders");
/// await producer.PublishAsync("hello"u8);
///
/// await foreach (Message message in client.ConsumeAsync("orders", new() { Start = StartPosition.Earliest }))
///     Console.WriteLine($"{message.Offset}: {message.GetText()}");
/// </code>
/// </example>
public sealed class LightQClient : IAsyncDisposable, IDisposable
{
    private readonly BrokerLink _link;
    private readonly ControlChannel _control;
    private readonly ClientEvents _events;

    /// <summary>Makes a client; connects nothing yet.</summary>
    /// <param name="connectionString"><c>lightq://[user[:password]@]host[:data-port][?control=PORT&amp;tls=true&amp;ca=FILE&amp;cert=FILE&amp;key=FILE&amp;token=TOKEN&amp;insecure=true]</c>.</param>
    /// <exception cref="ArgumentException">The string is not of that form.</exception>
    /// <exception cref="LightQException"><see cref="ErrorCode.InvalidArgument"/>: a file it names for TLS cannot be used.</exception>
    public LightQClient(string connectionString)
        : this(LightQClientOptions.Parse(connectionString))
    {
    }

    /// <summary>Makes a client; connects nothing yet.</summary>
    /// <param name="options">What to connect to and how.</param>
    /// <exception cref="ArgumentException">They name files for TLS without asking for TLS.</exception>
    /// <exception cref="LightQException"><see cref="ErrorCode.InvalidArgument"/>: a file they name for TLS cannot be used.</exception>
    public LightQClient(LightQClientOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Check();
        Options = options;
        ILogger logger = options.LoggerFactory?.CreateLogger("LightQ.Client") ?? NullLogger.Instance;
        _events = new ClientEvents(this, logger);
        _link = new BrokerLink(options, _events, logger);
        _control = new ControlChannel(options);
        Topics = new TopicsClient(_control);
        Stats = new StatsClient(_control);
        Groups = new GroupsClient(_control);
        Users = new UsersClient(_control);
        Operations = new OperationsClient(_control);
    }

    /// <summary>
    /// Tells of every change of <see cref="State"/>, one after the other and in order, on the thread pool; the client goes on when the handler returns. Told again, with the same state, when an
    /// attempt to connect is refused by a broker that is there, for example for a certificate, and the attempt before it failed with another code. What a handler throws is logged.
    /// </summary>
    public event EventHandler<ConnectionStateChangedEventArgs>? ConnectionStateChanged
    {
        add => _events.ConnectionStateChanged += value;
        remove => _events.ConnectionStateChanged -= value;
    }

    /// <summary>
    /// Tells that the broker is about to leave, before the change of state that follows. Nothing has to be done: producers hold back from now on, and they and subscriptions resume on
    /// the next connection. On the receiving thread: handlers must not block. What a handler throws is logged.
    /// </summary>
    public event EventHandler<GoingAwayEventArgs>? GoingAway
    {
        add => _events.GoingAway += value;
        remove => _events.GoingAway -= value;
    }

    /// <summary>
    /// Tells of messages that a subscription of this client will not get: in order, between the messages before and behind them, on the thread that enumerates, and so of several
    /// subscriptions at the same time. What a handler throws ends that enumeration.
    /// </summary>
    public event EventHandler<MessageGap>? GapDetected
    {
        add => _events.GapDetected += value;
        remove => _events.GapDetected -= value;
    }

    /// <summary>
    /// Tells that the broker has ended a subscription of this client as too slow, when that is received: the enumeration first hands out what it was delivered before, and then throws. On
    /// the receiving thread: handlers must not block. What a handler throws is logged. What a subscriber that may go on has missed is a gap.
    /// </summary>
    public event EventHandler<SlowConsumerEventArgs>? SlowConsumerDetected
    {
        add => _events.SlowConsumerDetected += value;
        remove => _events.SlowConsumerDetected -= value;
    }

    /// <summary>
    /// Tells that a consumer of all partitions of a topic goes on without one that the broker does not serve: it could not be opened at the start, or its disk has failed since. Every later connection asks for
    /// it again, and tells again if it is still refused. On the receiving thread: handlers must not block. What a handler throws is logged. With <see cref="GapAction.Throw"/> the enumeration ends instead.
    /// </summary>
    public event EventHandler<PartitionRefusedEventArgs>? PartitionRefused
    {
        add => _events.PartitionRefused += value;
        remove => _events.PartitionRefused -= value;
    }

    /// <summary>What the client was made with.</summary>
    public LightQClientOptions Options { get; }

    /// <summary>Whether the client is connected at the moment.</summary>
    public ConnectionState State => _events.State;

    /// <summary>Messages whose time to live was over when a subscription of this client got to them.</summary>
    public long MessagesExpired => _events.MessagesExpired;

    /// <summary>Creates, describes, lists and deletes topics.</summary>
    public TopicsClient Topics { get; }

    /// <summary>Reads the figures of topics and of the broker.</summary>
    public StatsClient Stats { get; }

    /// <summary>Looks into consumer groups, and moves, pauses and deletes them.</summary>
    public GroupsClient Groups { get; }

    /// <summary>Makes users, gives them rights, and makes tokens.</summary>
    public UsersClient Users { get; }

    /// <summary>Stops the broker, and has it read its configuration again.</summary>
    public OperationsClient Operations { get; }

    /// <summary>The control plane, for calls that only the command line makes.</summary>
    internal ControlChannel Control => _control;

    /// <summary>Where everything of this client logs.</summary>
    internal ILogger Logger => _link.Logger;

    /// <summary>Why the broker cannot be reached at the moment, while it is tried again and again; null when it can, or has not been tried.</summary>
    internal LightQException? Absence => _link.Absence;

    /// <summary>Connects now, instead of with the first request.</summary>
    /// <param name="cancellationToken">Ends the wait; the client goes on connecting.</param>
    /// <exception cref="LightQException">The first attempt failed; <see cref="ErrorCode.Unavailable"/> when nobody answered.</exception>
    public Task ConnectAsync(CancellationToken cancellationToken = default) => _link.ConnectAsync(cancellationToken);

    /// <summary>The same, but a client that waits for its broker waits for one attempt only; if that failed, <see cref="Absence"/> says why.</summary>
    internal Task AttemptAsync(CancellationToken cancellationToken) => _link.AttemptAsync(cancellationToken);

    /// <summary>Measures the round trip to the broker: over the data plane's connection, behind what is being sent on it already.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">There is no connection and none can be made, or it ended before the answer came.</exception>
    public Task<TimeSpan> PingAsync(CancellationToken cancellationToken = default) => _link.PingAsync(cancellationToken);

    /// <summary>Opens a producer.</summary>
    /// <param name="topic">The topic's name; <c>orders/3</c> is one of its partitions.</param>
    /// <param name="options">How it sends; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">The topic is unknown, the right is missing, or the broker cannot be reached.</exception>
    public async Task<Producer> CreateProducerAsync(string topic, ProducerOptions? options = null, CancellationToken cancellationToken = default)
    {
        options ??= new ProducerOptions();
        TopicAddress address = AddressArgument.Parse(topic, options.Partition);
        await _link.ConnectAsync(cancellationToken).ConfigureAwait(false);
        return await new ProducerOpener(_link, address.Topic, options with { Partition = address.Partition }).OpenAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Opens a producer of values.</summary>
    /// <typeparam name="T">What is published.</typeparam>
    /// <param name="topic">The topic's name; <c>orders/3</c> is one of its partitions.</param>
    /// <param name="serializer">Makes the bodies.</param>
    /// <param name="options">How it sends; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">The topic is unknown, the right is missing, or the broker cannot be reached.</exception>
    public async Task<Producer<T>> CreateProducerAsync<T>(string topic, IMessageSerializer<T> serializer, ProducerOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        return new Producer<T>(await CreateProducerAsync(topic, options, cancellationToken).ConfigureAwait(false), serializer);
    }

    /// <summary>Consumes messages, one by one.</summary>
    /// <param name="topic">The topic's name: all its partitions together; <c>orders/3</c> is one of them.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <returns>
    /// The messages in the order of their offsets within a partition, as they arrive among several, without an end. Each enumeration is a subscription of its own, opened by its first
    /// step and closed when the loop is left. A message is valid until the next one. Cancel with <c>WithCancellation</c>.
    /// </returns>
    /// <exception cref="LightQException">From the enumeration: the topic is unknown, the right is missing, the broker ended the subscription or cannot be reached.</exception>
    /// <example>
    /// <code>
    /// await foreach (Message message in client.ConsumeAsync("orders").WithCancellation(stopping))
    ///     Handle(message.Key, message.Body);
    /// </code>
    /// </example>
    public IAsyncEnumerable<Message> ConsumeAsync(string topic, ConsumeOptions? options = null) => Consume(topic, options);

    /// <summary>Consumes messages, one by one, with the values that their bodies stand for.</summary>
    /// <typeparam name="T">What was published.</typeparam>
    /// <param name="topic">The topic's name: all its partitions together; <c>orders/3</c> is one of them.</param>
    /// <param name="serializer">Reads the bodies.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <returns>As for <see cref="ConsumeAsync(string, ConsumeOptions?)"/>. A body that is no such value does not end the enumeration: it throws where its <see cref="Message{T}.Value"/> is asked for.</returns>
    /// <exception cref="LightQException">As for <see cref="ConsumeAsync(string, ConsumeOptions?)"/>.</exception>
    public IAsyncEnumerable<Message<T>> ConsumeAsync<T>(string topic, IMessageSerializer<T> serializer, ConsumeOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        return new TypedStream<T>(Consume(topic, options), AddressArgument.Parse(topic, null).Topic, serializer);
    }

    /// <summary>Consumes whole batches, as the producers made them: the fastest way.</summary>
    /// <param name="topic">The topic's name: all its partitions together; <c>orders/3</c> is one of them.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <returns>The batches in the order of their offsets within a partition, as they arrive among several, without an end. A batch is valid until the next one.</returns>
    /// <exception cref="LightQException">As for <see cref="ConsumeAsync(string, ConsumeOptions?)"/>.</exception>
    /// <example>
    /// <code>
    /// await foreach (MessageBatch batch in client.ConsumeBatchesAsync("orders"))
    /// {
    ///     foreach (RecordView record in batch)
    ///         Handle(record.Body);
    /// }
    /// </code>
    /// </example>
    public IAsyncEnumerable<MessageBatch> ConsumeBatchesAsync(string topic, ConsumeOptions? options = null) => Consume(topic, options);

    /// <summary>
    /// Makes a processor, which hands the messages of a group to a handler, several at a time; opens nothing yet. It always settles explicitly
    /// (<see cref="SettleMode.Explicit"/>): what it had not completed when this program dies comes again.
    /// </summary>
    /// <param name="topic">The name of a durable topic: all its partitions together; <c>orders/3</c> is one of them.</param>
    /// <param name="group">The group to be a member of.</param>
    /// <param name="options">How it works; null for the defaults.</param>
    /// <exception cref="ArgumentException">A name is none.</exception>
    public LightQProcessor CreateProcessor(string topic, string group, ProcessorOptions? options = null) => new(this, topic, group, options ?? new ProcessorOptions());

    /// <summary>Makes a consumer that is asked for messages, some at a time, instead of being enumerated; opens nothing yet.</summary>
    /// <param name="topic">The topic's name: all its partitions together; <c>orders/3</c> is one of them.</param>
    /// <param name="options">Where to begin and how; null for the defaults.</param>
    /// <exception cref="ArgumentException">The name is none, or the options contradict each other.</exception>
    public MessageConsumer CreateConsumer(string topic, ConsumeOptions? options = null) => new(Consume(topic, options), Options.TimeProvider);

    /// <summary>Closes the connection. Publishes under way fail with <see cref="ErrorCode.Closed"/>, enumerations end with it; dispose producers before.</summary>
    public async ValueTask DisposeAsync()
    {
        await _link.DisposeAsync().ConfigureAwait(false);
        _control.Dispose();
    }

    /// <summary>The same, blocking until the connection's threads have ended. Prefer <see cref="DisposeAsync"/>.</summary>
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();

    private ConsumeStream Consume(string topic, ConsumeOptions? options)
    {
        options ??= new ConsumeOptions();
        TopicAddress address = AddressArgument.Parse(topic, options.Partition);
        options = options with { Partition = address.Partition };
        if (options.Start.Kind == StartKind.Committed && options.Group is null)
            throw new ArgumentException("A subscription starts at the committed position only as a member of a group.", nameof(options));
        if (options.MaxInFlight != 0 && (options.Group is null || options.SettleMode != SettleMode.Explicit))
            throw new ArgumentException($"{nameof(ConsumeOptions.MaxInFlight)} is for members of a group with {nameof(SettleMode)}.{nameof(SettleMode.Explicit)}.", nameof(options));
        return new ConsumeStream(cancellationToken => SubscribeAsync(address.Topic, options, cancellationToken));
    }

    private async Task<Consumer> SubscribeAsync(string topic, ConsumeOptions options, CancellationToken cancellationToken)
    {
        await _link.ConnectAsync(cancellationToken).ConfigureAwait(false);
        var consumer = new Consumer(_link, topic, options, _events);
        await consumer.OpenAsync(cancellationToken).ConfigureAwait(false);
        return consumer;
    }
}
