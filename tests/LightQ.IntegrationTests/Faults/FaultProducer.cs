using LightQ.Client;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// A producer that keeps a few dozen messages under way and enters what becomes of each. Lives on while its broker does
/// not.
/// </summary>
/// <param name="number">Its number in the run.</param>
/// <param name="topic">The topic.</param>
/// <param name="ledger">The topic's ledger.</param>
/// <param name="options">How it publishes.</param>
/// <param name="mayFail">
/// Whether the fault makes the topic's log fail; then the next round opens the producer anew.
/// </param>
internal sealed class FaultProducer(
    int number,
    string topic,
    PublishLedger ledger,
    ProducerOptions options,
    bool mayFail
) : IAsyncDisposable
{
    private const int UnderWay = 48;

    private readonly SemaphoreSlim _room = new(UnderWay);
    private Producer? _producer;
    private long _acknowledged;
    private long _unknown;
    private volatile bool _failed;

    /// <summary>Messages that were acknowledged.</summary>
    public long Acknowledged => Volatile.Read(ref _acknowledged);

    /// <summary>Messages whose outcome the producer was never told.</summary>
    public long Unknown => Volatile.Read(ref _unknown);

    /// <summary>Publishes until it is told to stop or the producer has failed for good.</summary>
    public async Task RunAsync(LightQClient client, Random random, CancellationToken stop)
    {
        try
        {
            _failed = false;
            _producer ??= await client.CreateProducerAsync(topic, options, stop);
            while (!_failed)
            {
                await _room.WaitAsync(stop);
                (SentMessage message, byte[] body) = ledger.Create(number, random);
                _ = PublishAsync(_producer, message, body);
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The round is over.
        }
        catch (LightQException e) when (IsExpected(e.Code) || (mayFail && e.Code == ErrorCode.Internal))
        {
            // Killed, or its disk gone, before the producer stood: the next round tries again.
        }
        catch (LightQException e)
        {
            ledger.Report($"producer {number} was not opened: {e.Code} {e.Message}");
        }
    }

    /// <summary>Waits until every message has its outcome. One whose log has failed is given up.</summary>
    public async Task SettleAsync(TimeSpan patience)
    {
        if (_failed)
            await ForgetAsync();
        await Eventually.TrueAsync(
            () => _room.CurrentCount == UnderWay,
            patience,
            () => $"Producer {number} still waits for {UnderWay - _room.CurrentCount} outcomes."
        );
    }

    public async ValueTask DisposeAsync()
    {
        await ForgetAsync();
        _room.Dispose();
    }

    private async Task ForgetAsync()
    {
        if (_producer is { } producer)
            await producer.DisposeAsync();
        _producer = null;
    }

    private async Task PublishAsync(Producer producer, SentMessage message, byte[] body)
    {
        try
        {
            // Of several partitions it chooses one.
            MessageKey key = message.Sequence % 2 == 0 ? default : BitConverter.GetBytes(message.Sequence % 32);
            PublishAck ack = await producer.PublishAsync(body, key, cancellationToken: CancellationToken.None);
            message.Acknowledge(LogPlace.Of(ack.Partition, ack.Offset), ack.Durability);
            Interlocked.Increment(ref _acknowledged);
        }
        catch (LightQException e)
        {
            Interlocked.Increment(ref _unknown);
            _failed |= e.Code is not (ErrorCode.OutcomeUnknown or ErrorCode.ShuttingDown);
            if (!IsExpected(e.Code))
                ledger.Report($"{message} was refused: {e.Code} {e.Message}");
        }
        finally
        {
            _room.Release();
        }
    }

    private bool IsExpected(ErrorCode code) =>
        code is ErrorCode.OutcomeUnknown or ErrorCode.Unavailable or ErrorCode.ShuttingDown
        || (mayFail && code is ErrorCode.StreamBroken or ErrorCode.TopicFailed or ErrorCode.Closed);
}
