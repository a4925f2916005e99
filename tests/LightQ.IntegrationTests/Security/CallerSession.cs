using Google.Protobuf;
using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Json;
using LightQ.Protocol.Frames;
using LightQ.Server.Json;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>One caller's connection of the data plane, and its calls of the control plane.</summary>
internal sealed class CallerSession : IAsyncDisposable
{
    private readonly RawClient? _data;
    private uint _lastStream;

    private CallerSession(
        TestServer server,
        Caller caller,
        RawClient? data,
        (ErrorCode Code, string Message) greeting
    ) => (Server, Caller, _data, Greeting) = (server, caller, data, greeting);

    public TestServer Server { get; }

    public Caller Caller { get; }

    /// <summary>Why the data plane did not take the caller; the code None when it did.</summary>
    public (ErrorCode Code, string Message) Greeting { get; }

    public static async Task<CallerSession> OpenAsync(TestServer server, Caller caller)
    {
        (RawClient client, FrameHeader header, byte[] body) = await RawClient.LogInAsync(
            server.DataPort,
            caller.Token is null ? HelloFrame.Anonymous : HelloFrame.Token,
            caller.Token ?? ""
        );
        if (header.Type == FrameType.Welcome)
            return new CallerSession(server, caller, client, (ErrorCode.None, ""));
        await client.DisposeAsync();
        ErrorFrame error = FrameCodec.Read<ErrorFrame>(body);
        return new CallerSession(server, caller, null, (error.Code, error.Message));
    }

    /// <summary>Opens a stream, and closes it when it was opened.</summary>
    public async Task<(ErrorCode Code, string Message)> OpenStreamAsync<TBody>(TBody request)
        where TBody : IFrameBody<TBody>
    {
        if (_data is null)
            return Greeting;
        uint id = ++_lastStream;
        await _data.SendAsync(request, id, id);
        while (true)
        {
            (FrameHeader header, byte[] body) = await _data.ReadAsync();
            Assert.NotEqual(default, header.Type);
            if (header.Tag != id)
                continue; // The end of an earlier stream.
            if (header.Type == FrameType.Closed)
            {
                ClosedFrame closed = FrameCodec.Read<ClosedFrame>(body);
                return (closed.Code, closed.Message);
            }
            await _data.SendAsync(new CloseFrame(ErrorCode.None, ""), id);
            return (ErrorCode.None, "");
        }
    }

    /// <summary>Calls over gRPC, and over HTTP, where the answer has to be the same.</summary>
    public async Task<(ErrorCode Code, string Message)> CallAsync<TRequest, TResponse>(string name, TRequest request)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        (ErrorCode Code, string Message) answer = await CodeOfAsync(() =>
            Server.Control.CallAsync<TRequest, TResponse>(name, request, Caller.Token)
        );
        JsonRoute route = JsonRoutes.All.Single(r => r.Method.Name == name);
        if (route.PathFields.Any(f => ((string)f.Accessor.GetValue(request)).Contains('/', StringComparison.Ordinal)))
            return answer; // No path has a name with a slash.
        (ErrorCode Code, string Message) other = await Server.SendAsync(request, route, Caller.Token);
        return other == answer
            ? answer
            : (
                other.Code == answer.Code ? ErrorCode.Internal : other.Code,
                $"over HTTP {other.Message}, over gRPC {answer.Code} {answer.Message}"
            );
    }

    public Task<TResponse> AskAsync<TRequest, TResponse>(string name, TRequest request)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse> =>
        Server.Control.CallAsync<TRequest, TResponse>(name, request, Caller.Token);

    /// <summary>Opens a streaming call with its first request and lets it end.</summary>
    public Task<(ErrorCode Code, string Message)> DuplexAsync<TRequest, TResponse>(string name, TRequest first)
        where TRequest : class, IMessage<TRequest>, new()
        where TResponse : class, IMessage<TResponse> =>
        CodeOfAsync(async () =>
        {
            using AsyncDuplexStreamingCall<TRequest, TResponse> call = Server.Control.Duplex<TRequest, TResponse>(
                name,
                Caller.Token
            );
            try
            {
                await call.RequestStream.WriteAsync(first, TestContext.Current.CancellationToken);
                await call.RequestStream.CompleteAsync();
            }
            catch (RpcException)
            {
                // It was refused before it was written: reading says why.
            }
            while (await call.ReadAsync() is not null)
            {
                // To its end: a call that is broken off counts against the connection.
            }
        });

    public Task<(ErrorCode Code, string Message)> WatchAsync<TRequest, TResponse>(string name, TRequest request)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse> =>
        CodeOfAsync(async () =>
        {
            // Leaving it breaks the call off.
            using var channel = GrpcChannel.ForAddress($"http://127.0.0.1:{Server.ControlPort}");
            await foreach (TResponse unused in channel.StreamAsync<TRequest, TResponse>(name, request, Caller.Token))
                break;
        });

    public async ValueTask DisposeAsync()
    {
        if (_data is not null)
            await _data.DisposeAsync();
    }

    private static async Task<(ErrorCode Code, string Message)> CodeOfAsync(Func<Task> call)
    {
        try
        {
            await call();
            return (ErrorCode.None, "");
        }
        catch (RpcException e)
        {
            return (
                Enum.Parse<ErrorCode>(e.Trailers.GetValue(ControlCalls.CodeTrailer) ?? $"{e.Status}"),
                e.Status.Detail
            );
        }
    }
}
