using System.Diagnostics.CodeAnalysis;
using System.Net;
using Grpc.Core;

namespace LightQ.Server.Messages;

/// <summary>An open PublishStream or Consume call: what a connection is on the data plane.</summary>
[SuppressMessage("Reliability", "CA1001", Justification = "A source without a timer holds nothing; another thread may cancel it late.")]
internal abstract class MessageCall(uint connectionId, ServerCallContext context, DateTimeOffset opened)
{
    private readonly Lock _ending = new();
    private readonly CancellationTokenSource _reading = new();
    private bool _hasEnded;

    /// <summary>Names it in statistics, among the connections.</summary>
    public uint ConnectionId { get; } = connectionId;

    /// <summary>What the client calls itself.</summary>
    public string ClientName { get; } = context.RequestHeaders.GetValue("user-agent") ?? "";

    /// <summary>The client's address and port.</summary>
    public string Peer { get; } = context.GetHttpContext().Connection is { RemoteIpAddress: { } address } from ? new IPEndPoint(address, from.RemotePort).ToString() : "";

    /// <summary>When it was opened.</summary>
    public DateTimeOffset Opened { get; } = opened;

    /// <summary>Open producer streams.</summary>
    public abstract int Producers { get; }

    /// <summary>Open subscriptions.</summary>
    public abstract int Subscriptions { get; }

    /// <summary>What is under way: producers that wait for acks, and messages that members of groups hold. Any thread.</summary>
    public abstract (int BusyProducers, long Held) CountUnderWay();

    protected ServerCallContext Context { get; } = context;

    /// <summary>Nothing is done to the call's transport any more: it may serve another soon.</summary>
    public void Ended()
    {
        lock (_ending)
            _hasEnded = true;
    }

    /// <summary>The broker is about to stop: the call ends by itself, after at most so long.</summary>
    public abstract void BeginStop(TimeSpan timeLeft);

    /// <summary>Somebody may do more or less than before: ends what may not go on. Any thread.</summary>
    public abstract void Review();

    /// <summary>The time is over: the call ends now.</summary>
    public abstract void EndStop();

    /// <summary>Reads the client's next request; the end of the reading ends it with <see cref="OperationCanceledException"/>.</summary>
    protected Task<bool> NextAsync<TRequest>(IAsyncStreamReader<TRequest> requests) => requests.MoveNext(_reading.Token);

    /// <summary>Ends the read that is under way, and every other. Any thread.</summary>
    protected void StopReading() => _reading.Cancel();

    /// <summary>Cuts the call, unless it has ended. Any thread.</summary>
    protected void Abort()
    {
        lock (_ending)
        {
            if (!_hasEnded)
                Context.GetHttpContext().Abort();
        }
    }
}
