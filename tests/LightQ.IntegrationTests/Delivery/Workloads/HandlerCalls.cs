using LightQ.Client;
using LightQ.Client.Consuming;

namespace LightQ.IntegrationTests.Delivery.Workloads;

/// <summary>What handlers saw of each message, and what was wrong with it. Thread-safe.</summary>
internal sealed class HandlerCalls
{
    private static readonly TimeSpan Slack = TimeSpan.FromMilliseconds(100);
    private readonly Lock _gate = new();
    private readonly Dictionary<(int Partition, long Offset), int> _calls = [];
    private readonly List<string> _wrong = [];

    /// <summary>How many messages had a call.</summary>
    public int Messages
    {
        get
        {
            lock (_gate)
                return _calls.Count;
        }
    }

    /// <summary>What must not be.</summary>
    public IReadOnlyList<string> Wrong
    {
        get
        {
            lock (_gate)
                return [.. _wrong];
        }
    }

    /// <summary>A message has been handed out.</summary>
    /// <param name="partition">Its partition.</param>
    /// <param name="offset">Its offset.</param>
    /// <param name="delivery">The delivery and its lock.</param>
    public void Add(int partition, long offset, DeliveryLock delivery)
    {
        lock (_gate)
        {
            int before = _calls.GetValueOrDefault((partition, offset));
            _calls[(partition, offset)] = before + 1;
            if (delivery.DeliveryCount > before + 1)
                _wrong.Add($"{partition}/{offset}: delivery {delivery.DeliveryCount}, and {before} calls before");
            // What takes a busy machine from the client's look to this one is no fault of the client's. A lock that it
            // has renewed meanwhile is good for longer than the delivery said.
            TimeSpan late = DateTimeOffset.UtcNow - new DateTimeOffset(delivery.LockedUntil, TimeSpan.Zero);
            if (late > Slack && !delivery.IsHeld)
                _wrong.Add($"{partition}/{offset}: handed out {late} behind its lock");
        }
    }

    /// <inheritdoc cref="Add(int, long, DeliveryLock)"/>
    public void Add(in Message message) => Add(message.Partition, message.Offset, message.DeliveryLock);
}
