using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Connections;

/// <summary>Raises the events of a client, so that no handler can do harm to the code that raises them.</summary>
/// <param name="sender">The client.</param>
/// <param name="logger">Logs the exceptions of handlers.</param>
internal sealed class ClientEvents(object sender, ILogger logger)
{
    private long _messagesExpired;
    private bool _isSkewTold;

    public event EventHandler<ConnectionStateChangedEventArgs>? ConnectionStateChanged;

    public event EventHandler<GoingAwayEventArgs>? GoingAway;

    public event EventHandler<MessageGap>? GapDetected;

    public event EventHandler<SlowConsumerEventArgs>? SlowConsumerDetected;

    public event EventHandler<PartitionRefusedEventArgs>? PartitionRefused;

    public event EventHandler<ProducerEndedEventArgs>? ProducerEnded;

    public ConnectionState State { get; private set; }

    public long MessagesExpired => Volatile.Read(ref _messagesExpired);

    public void OnState(ConnectionState state, LightQException? reason, LightQClientOptions broker)
    {
        State = state;
        Raise(
            ConnectionStateChanged,
            new ConnectionStateChangedEventArgs(state, reason)
            {
                Broker = HostPort.Format(broker.Host, broker.DataPort),
            },
            nameof(ConnectionStateChanged)
        );
    }

    /// <summary>Says once by how much this machine's clock differs from the broker's, if that is much.</summary>
    public void OnClock(TimeSpan skew, LightQClientOptions broker)
    {
        if (skew.Duration() > ProtocolLimits.ClockSkewToTell && !Interlocked.Exchange(ref _isSkewTold, true))
            ClientLog.Skewed(logger, HostPort.Format(broker.Host, broker.DataPort), skew.TotalSeconds);
    }

    public void OnGoingAway(in GoAwayFrame frame, LightQClientOptions broker)
    {
        string address = HostPort.Format(broker.Host, broker.DataPort);
        ClientLog.GoAway(logger, address, frame.Code, frame.TimeLeftMilliseconds, frame.Message);
        Raise(
            GoingAway,
            new GoingAwayEventArgs(frame.Code, TimeSpan.FromMilliseconds(frame.TimeLeftMilliseconds), frame.Message)
            {
                Broker = address,
            },
            nameof(GoingAway)
        );
    }

    public void OnSlowConsumer(string topic, int partition, string? group, LightQException reason)
    {
        ClientLog.EndedAsSlow(logger, topic, reason.Message);
        Raise(
            SlowConsumerDetected,
            new SlowConsumerEventArgs(topic, partition, group, reason),
            nameof(SlowConsumerDetected)
        );
    }

    public void OnPartitionRefused(string topic, int partition, string? group, LightQException reason)
    {
        ClientLog.PartitionRefused(logger, topic, partition, reason.Code, reason.Message);
        Raise(
            PartitionRefused,
            new PartitionRefusedEventArgs(topic, partition, group, reason),
            nameof(PartitionRefused)
        );
    }

    /// <summary>The handlers run on the pool: the caller holds its stream's gate.</summary>
    public void OnProducerEnded(string topic, string? name, LightQException reason)
    {
        ClientLog.ProducerEnded(logger, topic, reason.Code, reason.Message);
        if (ProducerEnded is { } handlers)
        {
            ThreadPool.QueueUserWorkItem(_ =>
                Raise(handlers, new ProducerEndedEventArgs(topic, name, reason), nameof(ProducerEnded))
            );
        }
    }

    /// <summary>Runs on the thread that enumerates, where what a handler throws surfaces.</summary>
    public void OnGap(MessageGap gap)
    {
        if (gap.Reason == GapReason.Expired)
            Interlocked.Add(ref _messagesExpired, gap.LastOffset - gap.FirstOffset + 1);
        GapDetected?.Invoke(sender, gap);
    }

    private void Raise<TArgs>(EventHandler<TArgs>? handlers, TArgs args, string name)
    {
        if (handlers is null)
            return;
        // What a handler awaits is not to continue on the client's own thread.
        SynchronizationContext? own = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        try
        {
            handlers.Invoke(sender, args);
        }
        catch (Exception e)
        {
            // A handler's failure must not keep the client from receiving or reconnecting.
            ClientLog.HandlerFailed(logger, e, name);
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(own);
        }
    }
}
