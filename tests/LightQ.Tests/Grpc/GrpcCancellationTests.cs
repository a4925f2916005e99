using LightQ.Grpc;
using LightQ.Grpc.AspNetCore;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Grpc;

/// <summary>Deadlines and cancellation, seen from both sides.</summary>
public sealed class GrpcCancellationTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly TaskCompletionSource _entered = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _cancelled = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_deadline_that_passes_on_the_server_cancels_the_handler_and_is_answered()
    {
        ManualTime serverTime = new();
        await using EchoServer server = await EchoServer.StartAsync(new() { TimeProvider = serverTime });
        DateTimeOffset? deadline = null;
        server.Unary = async (request, context) =>
        {
            deadline = context.Deadline;
            await WaitForCancellationAsync(context);
            return request;
        };
        using GrpcChannel channel = server.Connect(new() { TimeProvider = new ManualTime() });
        Task<EchoMessage> call = channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), new() { Timeout = Second }, Token);
        await _entered.Task.WaitAsync(Token);
        Assert.Equal(serverTime.GetUtcNow() + Second, deadline);
        serverTime.Advance(Second);
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(() => call);
        Assert.Equal(new GrpcStatus(GrpcStatusCode.DeadlineExceeded, "The deadline passed."), error.Status);
        Assert.Empty(server.Log.Lines);
    }

    [Fact]
    public async Task A_deadline_that_passes_on_the_client_ends_the_call_and_cancels_the_handler()
    {
        ManualTime clientTime = new();
        await using EchoServer server = await EchoServer.StartAsync(new() { TimeProvider = new ManualTime() });
        server.Unary = async (request, context) =>
        {
            await WaitForCancellationAsync(context);
            return request;
        };
        using GrpcChannel channel = server.Connect(new() { TimeProvider = clientTime });
        Task<EchoMessage> call = channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), new() { Timeout = Second }, Token);
        await _entered.Task.WaitAsync(Token);
        clientTime.Advance(Second);
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(() => call);
        Assert.Equal(GrpcStatusCode.DeadlineExceeded, error.Status.Code);
        await _cancelled.Task.WaitAsync(Token);
    }

    [Fact]
    public async Task A_deadline_of_zero_fails_at_once()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(() =>
            channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), new() { Timeout = TimeSpan.Zero }, Token));
        Assert.Equal(GrpcStatusCode.DeadlineExceeded, error.Status.Code);
    }

    [Fact]
    public async Task A_call_without_a_deadline_has_none()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        DateTimeOffset? deadline = DateTimeOffset.MinValue;
        server.Unary = (request, context) =>
        {
            deadline = context.Deadline;
            return Task.FromResult(request);
        };
        using GrpcChannel channel = server.Connect();
        await channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, Token);
        Assert.Null(deadline);
    }

    [Fact]
    public async Task Cancelling_a_unary_call_cancels_its_handler()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Unary = async (request, context) =>
        {
            await WaitForCancellationAsync(context);
            return request;
        };
        using GrpcChannel channel = server.Connect();
        using CancellationTokenSource cancel = CancellationTokenSource.CreateLinkedTokenSource(Token);
        Task<EchoMessage> call = channel.UnaryAsync(EchoServer.UnaryMethod, new EchoMessage(), null, cancel.Token);
        await _entered.Task.WaitAsync(Token);
        await cancel.CancelAsync();
        OperationCanceledException error = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        Assert.Equal(cancel.Token, error.CancellationToken);
        await _cancelled.Task.WaitAsync(Token);
        Assert.Empty(server.Log.Lines);
    }

    [Fact]
    public async Task Leaving_a_server_stream_early_cancels_its_handler()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Repeat = async (_, responses, context) =>
        {
            await responses.WriteAsync(new EchoMessage());
            await WaitForCancellationAsync(context);
        };
        using GrpcChannel channel = server.Connect();
        await foreach (EchoMessage unused in channel.ServerStreaming(EchoServer.RepeatMethod, new EchoMessage(), null, Token))
            break;
        await _cancelled.Task.WaitAsync(Token);
    }

    [Fact]
    public async Task A_handler_that_writes_to_a_client_that_left_is_cancelled()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        server.Repeat = async (_, responses, _) =>
        {
            try
            {
                while (true)
                    await responses.WriteAsync(new EchoMessage { Text = new string('x', 10_000) });
            }
            catch (OperationCanceledException)
            {
                _cancelled.SetResult();
                throw;
            }
        };
        using GrpcChannel channel = server.Connect();
        await foreach (EchoMessage unused in channel.ServerStreaming(EchoServer.RepeatMethod, new EchoMessage(), null, Token))
            break;
        await _cancelled.Task.WaitAsync(Token);
        Assert.Empty(server.Log.Lines);
    }

    [Fact]
    public async Task Disposing_a_call_never_looks_like_the_end_of_its_requests()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        for (int i = 0; i < 50; i++)
        {
            TaskCompletionSource entered = new(TaskCreationOptions.RunContinuationsAsynchronously);
            TaskCompletionSource<bool> ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
            server.Converse = async (requests, responses, context) =>
            {
                await context.SendResponseHeadersAsync();
                try
                {
                    await foreach (EchoMessage unused in requests)
                        entered.TrySetResult();
                    ended.SetResult(true);
                }
                catch (OperationCanceledException)
                {
                    ended.SetResult(false);
                    throw;
                }
            };
            using (GrpcDuplexStreamingCall<EchoMessage, EchoMessage> call = channel.DuplexStreaming(EchoServer.ConverseMethod, null, Token))
            {
                await call.WriteAsync(new EchoMessage(), Token);
                await entered.Task.WaitAsync(Token);
            }

            Assert.False(await ended.Task.WaitAsync(Token));
        }
    }

    [Fact]
    public async Task Cancelling_one_read_cancels_the_call()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        using GrpcDuplexStreamingCall<EchoMessage, EchoMessage> call = channel.DuplexStreaming(EchoServer.ConverseMethod, null, Token);
        await call.WriteAsync(new EchoMessage(), Token);
        Assert.NotNull(await call.ReadAsync(Token));
        using CancellationTokenSource cancel = new();
        ValueTask<EchoMessage?> reading = call.ReadAsync(cancel.Token);
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await reading);
        await Assert.ThrowsAsync<GrpcException>(async () => await call.WriteAsync(new EchoMessage(), Token));
    }

    private async Task WaitForCancellationAsync(GrpcServerCallContext context)
    {
        _entered.SetResult();
        try
        {
            await Task.Delay(Timeout.Infinite, context.CancellationToken);
        }
        finally
        {
            _cancelled.SetResult();
        }
    }
}
