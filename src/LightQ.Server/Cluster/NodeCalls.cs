using Grpc.Core;
using LightQ.Broker;
using LightQ.Server.Control;
using LightQ.Server.Security;

namespace LightQ.Server.Cluster;

/// <summary>Calls other nodes on behalf of this node's clients.</summary>
internal sealed class NodeCalls(LightQBroker broker, Leaders leaders, NodeTokens tokens, NodeChannels channels)
{
    /// <summary>This node's view of the topics.</summary>
    public LightQBroker Broker => broker;

    /// <summary>Which node leads what.</summary>
    public Leaders Leaders => leaders;

    /// <summary>Makes a call of another node, once.</summary>
    /// <param name="node">The node.</param>
    /// <param name="method">The method.</param>
    /// <param name="request">The request.</param>
    /// <param name="partitions">The partitions that it is taken to lead.</param>
    /// <param name="longest">How long its answer may take; the client's deadline may be earlier.</param>
    /// <param name="context">The client's call.</param>
    /// <exception cref="RpcException">As the other node has refused it.</exception>
    /// <exception cref="BrokerException"><see cref="ErrorCode.Unavailable"/>: it does not answer.</exception>
    public async Task<TResponse> CallAsync<TRequest, TResponse>(
        string node,
        Method<TRequest, TResponse> method,
        TRequest request,
        IEnumerable<uint> partitions,
        TimeSpan longest,
        ServerCallContext context
    )
        where TRequest : class
        where TResponse : class
    {
        (CallInvoker invoker, string address) = channels.Of(node);
        DateTime end = DateTime.UtcNow + longest;
        CallOptions options = OptionsOf(node, method, partitions, context, context.CancellationToken)
            .WithDeadline(context.Deadline < end ? context.Deadline : end);
        try
        {
            using AsyncUnaryCall<TResponse> call = invoker.AsyncUnaryCall(method, null, options, request);
            return await call.ResponseAsync.ConfigureAwait(false);
        }
        catch (RpcException e)
        {
            throw Explain(e, node, address, context.CancellationToken);
        }
    }

    /// <summary>Opens a call with streams of another node.</summary>
    /// <exception cref="BrokerException"><see cref="ErrorCode.Unavailable"/>: it is not there.</exception>
    public (AsyncDuplexStreamingCall<TRequest, TResponse> Call, string Address) Open<TRequest, TResponse>(
        string node,
        Method<TRequest, TResponse> method,
        IEnumerable<uint> partitions,
        ServerCallContext context,
        CancellationToken cancellationToken
    )
        where TRequest : class
        where TResponse : class
    {
        (CallInvoker invoker, string address) = channels.Of(node);
        CallOptions options = OptionsOf(node, method, partitions, context, cancellationToken);
        if (context.Deadline != DateTime.MaxValue)
            options = options.WithDeadline(context.Deadline);
        return (invoker.AsyncDuplexStreamingCall(method, null, options), address);
    }

    /// <summary>What a client of this node is told of a call that has failed there.</summary>
    public static Exception Explain(RpcException thrown, string node, string address, CancellationToken cancelled)
    {
        if (cancelled.IsCancellationRequested)
            return new OperationCanceledException(thrown.Message, thrown, cancelled);
        if (Enum.TryParse(thrown.Trailers.GetValue(ControlErrors.CodeTrailer), out ErrorCode code))
        {
            return code == ErrorCode.TlsFailed
                ? new BrokerException(
                    ErrorCode.Unavailable,
                    $"The node '{node}' at {address}, which the call was forwarded to, refuses the certificate of this "
                        + $"node: {thrown.Status.Detail} Its Tls:ClientCaFile must have the authority of this one."
                )
                : ControlErrors.Make(thrown.StatusCode, code, thrown.Status.Detail, thrown);
        }
        if (NodeTls.ProblemOf(thrown.Status.DebugException) is { } problem)
        {
            return new BrokerException(
                ErrorCode.Unavailable,
                $"The call was not forwarded to the node '{node}' at {address}, since TLS with it fails: {problem} Its "
                    + $"certificate must come from an authority in Cluster:NodeCaFile (without it, in the machine's "
                    + $"list), and be for the host that it advertises."
            );
        }
        return new BrokerException(
            ErrorCode.Unavailable,
            $"The node '{node}' at {address}, which the call was forwarded to, did not answer it: "
                + $"{thrown.StatusCode}, {thrown.Status.Detail} It may have done what was asked."
        );
    }

    private CallOptions OptionsOf<TRequest, TResponse>(
        string node,
        Method<TRequest, TResponse> method,
        IEnumerable<uint> partitions,
        ServerCallContext context,
        CancellationToken cancellationToken
    )
    {
        var headers = new Metadata
        {
            { NodeTokens.MetadataName, tokens.Issue(node, method.FullName, CallPrincipal.Of(context)) },
            { ForwardedCall.MetadataName, ForwardedCall.TextOf(partitions) },
        };
        return new CallOptions(headers, cancellationToken: cancellationToken);
    }
}
