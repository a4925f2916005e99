using System.Diagnostics.CodeAnalysis;
using System.Net;
using Grpc.Core;

namespace LightQ.Server.Messages;

/// <summary>An open PublishStream or Consume call.</summary>
[SuppressMessage(
    "Reliability",
    "CA1001",
    Justification = "A source without a timer holds nothing; another thread may cancel it late."
)]
internal abstract class MessageCall(uint connectionId, ServerCallContext context, DateTimeOffset opened)
    : MessageClient(connectionId, NameOf(context), PeerOf(context), opened)
{
    private readonly Lock _ending = new();
    private readonly CancellationTokenSource _reading = new();
    private bool _hasEnded;

    protected ServerCallContext Context { get; } = context;

    /// <summary>What the client of a call calls itself.</summary>
    public static string NameOf(ServerCallContext context) => context.RequestHeaders.GetValue("user-agent") ?? "";

    /// <summary>The address and port of a call's client.</summary>
    public static string PeerOf(ServerCallContext context) =>
        context.GetHttpContext().Connection is { RemoteIpAddress: { } address } from
            ? new IPEndPoint(address, from.RemotePort).ToString()
            : "";

    /// <summary>Nothing is done to the call's transport any more: it may serve another soon.</summary>
    public void Ended()
    {
        lock (_ending)
            _hasEnded = true;
    }

    /// <summary>
    /// Reads the client's next request; the end of the reading ends it with <see cref="OperationCanceledException"/>.
    /// </summary>
    protected Task<bool> NextAsync<TRequest>(IAsyncStreamReader<TRequest> requests) =>
        requests.MoveNext(_reading.Token);

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
