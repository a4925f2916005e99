using Google.Protobuf;
using Grpc.Core;
using LightQ.Broker.DeadLetters;
using LightQ.Protocol.Control;
using LightQ.Server.Security;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Cluster;

/// <summary>Brings dead letters to the nodes that lead their topics, as the broker itself.</summary>
internal sealed class LetterCarrier(Leaders leaders, NodeTokens tokens, NodeChannels channels) : ILetterCarrier
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    private static readonly Method<AppendLettersRequest, AppendLettersResponse> Append = NodeMethod.Of<
        AppendLettersRequest,
        AppendLettersResponse
    >(MethodType.Unary, "/lightq.control.v1.Letters/AppendLetters");

    private static readonly Method<ReadLettersRequest, ReadLettersResponse> Read = NodeMethod.Of<
        ReadLettersRequest,
        ReadLettersResponse
    >(MethodType.Unary, "/lightq.control.v1.Letters/ReadLetters");

    public async Task<(long Start, long End)> AppendAsync(
        Topic dead,
        ReadOnlyMemory<byte> batch,
        int count,
        CancellationToken cancellationToken
    )
    {
        var request = new AppendLettersRequest
        {
            DeadLetterTopic = dead.Name,
            Batch = UnsafeByteOperations.UnsafeWrap(batch),
            Count = (uint)count,
        };
        AppendLettersResponse response = await CallAsync(dead, Append, request, cancellationToken)
            .ConfigureAwait(false);
        return (response.StartOffset, response.EndOffset);
    }

    public async Task<LetterPage> ReadAsync(Topic dead, long offset, CancellationToken cancellationToken)
    {
        var request = new ReadLettersRequest { DeadLetterTopic = dead.Name, Offset = offset };
        try
        {
            ReadLettersResponse response = await CallAsync(dead, Read, request, cancellationToken)
                .ConfigureAwait(false);
            return new LetterPage(
                [.. response.Batches.Select(batch => batch.ToByteArray())],
                response.NextOffset,
                response.StartOffset,
                response.EndOffset
            );
        }
        catch (RpcException e)
        {
            throw new IOException($"The dead-letter topic '{dead.Name}' cannot be read: {e.Status.Detail}", e);
        }
    }

    private async Task<TResponse> CallAsync<TRequest, TResponse>(
        Topic dead,
        Method<TRequest, TResponse> method,
        TRequest request,
        CancellationToken cancellationToken
    )
        where TRequest : class
        where TResponse : class
    {
        string node = await leaders.OfAsync(dead, partition: 0, cancellationToken).ConfigureAwait(false);
        (CallInvoker invoker, string address) = channels.Of(node);
        var headers = new Metadata
        {
            { NodeTokens.MetadataName, tokens.Issue(node, method.FullName, Principal.Admin()) },
        };
        try
        {
            using AsyncUnaryCall<TResponse> call = invoker.AsyncUnaryCall(
                method,
                null,
                new CallOptions(headers, DateTime.UtcNow + Longest, cancellationToken),
                request
            );
            return await call.ResponseAsync.ConfigureAwait(false);
        }
        catch (RpcException e)
        {
            throw NodeCalls.Explain(e, node, address, cancellationToken);
        }
    }
}
