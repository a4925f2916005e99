using System.Net;
using LightQ.Grpc.AspNetCore;

namespace LightQ.Server.Messages;

/// <summary>An open PublishStream or Consume call: what a connection is on the data plane.</summary>
internal abstract class MessageCall(uint connectionId, GrpcServerCallContext context, DateTimeOffset opened)
{
    private readonly Lock _ending = new();
    private bool _hasEnded;

    /// <summary>Names it in statistics, among the connections.</summary>
    public uint ConnectionId { get; } = connectionId;

    /// <summary>What the client calls itself.</summary>
    public string ClientName { get; } = context.RequestMetadata.GetValue("user-agent") ?? "";

    /// <summary>The client's address and port.</summary>
    public string Peer { get; } = context.HttpContext.Connection is { RemoteIpAddress: { } address } from ? new IPEndPoint(address, from.RemotePort).ToString() : "";

    /// <summary>When it was opened.</summary>
    public DateTimeOffset Opened { get; } = opened;

    /// <summary>Open producer streams.</summary>
    public abstract int Producers { get; }

    /// <summary>Open subscriptions.</summary>
    public abstract int Subscriptions { get; }

    /// <summary>What is under way: producers that wait for acks, and messages that members of groups hold. Any thread.</summary>
    public abstract (int BusyProducers, long Held) CountUnderWay();

    protected GrpcServerCallContext Context { get; } = context;

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

    /// <summary>Does something to the transport from another thread, unless the call has ended.</summary>
    protected void WhileOpen(Action<GrpcServerCallContext> act)
    {
        lock (_ending)
        {
            if (!_hasEnded)
                act(Context);
        }
    }
}
