using System.Buffers;
using System.IO.Pipelines;
using System.Net.Http.Headers;
using Google.Protobuf;
using LightQ.Grpc.Framing;

namespace LightQ.Grpc.Calls;

/// <summary>
/// One call, of any shape: sends the request, reads the responses and the status. Reads and writes may go on at the same
/// time, but only one of each. Disposing a call that has not ended cancels it.
/// </summary>
internal sealed class GrpcClientCall<TRequest, TResponse> : IDisposable
    where TRequest : class, IMessage<TRequest>
    where TResponse : class, IMessage<TResponse>
{
    // Large enough that a message of megabytes is not made of thousands of segments; idle streams hold none (zero-byte reads).
    private static readonly StreamPipeReaderOptions BodyOptions = new(bufferSize: 32 * 1024, useZeroByteReads: true);

    private readonly GrpcChannel _channel;
    private readonly GrpcMethod<TRequest, TResponse> _method;
    private readonly GrpcCallOptions _options;
    private readonly CancellationToken _callerToken;
    private readonly CancellationTokenSource? _deadline;
    private readonly CancellationTokenSource _lifetime;
    private readonly GrpcRequestStream? _requests;
    private readonly Task<HttpResponseMessage> _responding;
    private PipeReader? _body;
    private GrpcMessageReader? _reader;
    private GrpcStatus? _status;
    private GrpcMetadata _trailers = [];
    private bool _disposed;

    /// <summary>Starts the call. Without a request message the requests are a stream.</summary>
    public GrpcClientCall(
        HttpMessageInvoker http,
        GrpcChannel channel,
        GrpcMethod<TRequest, TResponse> method,
        TRequest? request,
        GrpcCallOptions options,
        CancellationToken callerToken)
    {
        _channel = channel;
        _method = method;
        _options = options;
        _callerToken = callerToken;
        HttpContent content = request is null ? _requests = new GrpcRequestStream() : GrpcRequest.Serialize(request, MaxSendSize);
        if (options.Timeout is { } timeout) _deadline = new CancellationTokenSource(GrpcTimeout.ToTimer(timeout), channel.Options.TimeProvider);
        _lifetime = CancellationTokenSource.CreateLinkedTokenSource(callerToken, _deadline?.Token ?? CancellationToken.None);
        _responding = SendAsync(http, GrpcRequest.Create(channel, method.FullName, options, content));
    }

    private int MaxSendSize => _options.MaxSendMessageSize ?? _channel.Options.MaxSendMessageSize;

    /// <summary>The next response, or null after the last one of a call that ended with OK.</summary>
    public async ValueTask<TResponse?> ReadAsync(CancellationToken cancellationToken)
    {
        try
        {
            using CancellationTokenRegistration reading = CancelWith(cancellationToken);
            if (_reader is null && _status is null) await ReadHeadAsync().ConfigureAwait(false);
            if (_status is null)
            {
                if (await _reader!.ReadAsync(_method.ResponseParser, _lifetime.Token).ConfigureAwait(false) is { } response) return response;
                ReadTrailers();
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or HttpRequestException or ObjectDisposedException)
        {
            throw Translate(e, cancellationToken);
        }

        return _status!.Value.Code == GrpcStatusCode.Ok ? null : throw new GrpcException(_status.Value, _trailers);
    }

    /// <summary>The response of a call that has exactly one.</summary>
    public async Task<TResponse> ReadSingleAsync(CancellationToken cancellationToken)
    {
        TResponse response = await ReadAsync(cancellationToken).ConfigureAwait(false)
            ?? throw new GrpcException(GrpcStatusCode.Unimplemented, "The server answered OK without a response message.");
        return await ReadAsync(cancellationToken).ConfigureAwait(false) is null
            ? response
            : throw new GrpcException(GrpcStatusCode.Unimplemented, "The server answered with more than one response message.");
    }

    public async ValueTask WriteAsync(TRequest request, CancellationToken cancellationToken)
    {
        int size = GrpcFrame.Measure(request, MaxSendSize);
        int length = checked(GrpcFrame.PrefixLength + size);
        byte[] frame = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            using CancellationTokenRegistration writing = CancelWith(cancellationToken);
            GrpcFrame.Write(request, size, frame);
            Stream stream = await _requests!.Opened.WaitAsync(_lifetime.Token).ConfigureAwait(false);
            await stream.WriteAsync(frame.AsMemory(0, length), _lifetime.Token).ConfigureAwait(false);
            await stream.FlushAsync(_lifetime.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or HttpRequestException or ObjectDisposedException)
        {
            throw await TranslateWriteAsync(e, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(frame);
        }
    }

    public void CompleteRequests() => _requests!.Complete();

    public void Dispose()
    {
        if (_disposed) return;
        _disposed = true;
        if (_status is null) _lifetime.Cancel();
        _requests?.Abandon();
        _responding.ContinueWith(
            static task =>
            {
                if (task.IsCompletedSuccessfully) task.Result.Dispose();
                else _ = task.Exception; // a call that nobody waits for any more has nobody to tell
            },
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);
        _lifetime.Dispose();
        _deadline?.Dispose();
    }

    private async Task<HttpResponseMessage> SendAsync(HttpMessageInvoker http, HttpRequestMessage request)
    {
        try
        {
            return await http.SendAsync(request, _lifetime.Token).ConfigureAwait(false);
        }
        catch
        {
            _requests?.Abandon();
            throw;
        }
    }

    private async Task ReadHeadAsync()
    {
        HttpResponseMessage response = await _responding.ConfigureAwait(false);
        GrpcMetadata metadata = GrpcResponseHead.ReadMetadata(response.Headers);
        if ((GrpcResponseHead.FindStatus(response.Headers) ?? GrpcResponseHead.FindProblem(response)) is { } status)
        {
            End(status, metadata);
            return;
        }

        _options.OnResponseHeaders?.Invoke(metadata);
        Stream stream = await response.Content.ReadAsStreamAsync(_lifetime.Token).ConfigureAwait(false);
        _body = PipeReader.Create(stream, BodyOptions);
        _reader = new GrpcMessageReader(
            _body,
            _options.MaxReceiveMessageSize ?? _channel.Options.MaxReceiveMessageSize,
            GrpcResponseHead.Single(response.Headers, GrpcHeaders.Encoding));
    }

    private void ReadTrailers()
    {
        HttpResponseHeaders trailers = _responding.Result.TrailingHeaders; // completed: its head was read
        End(
            GrpcResponseHead.FindStatus(trailers) ?? new GrpcStatus(GrpcStatusCode.Unknown, "The response ended without a status."),
            GrpcResponseHead.ReadMetadata(trailers));
        _body!.Complete();
    }

    private void End(GrpcStatus status, GrpcMetadata trailers)
    {
        _status = status;
        _trailers = trailers;
        _options.OnResponseTrailers?.Invoke(trailers);
    }

    /// <summary>A token given to one read or write cancels the call: half a message cannot be taken back.</summary>
    private CancellationTokenRegistration CancelWith(CancellationToken cancellationToken) =>
        cancellationToken == _callerToken ? default : cancellationToken.UnsafeRegister(static source => ((CancellationTokenSource)source!).Cancel(), _lifetime);

    private Exception Translate(Exception error, CancellationToken cancellationToken)
    {
        if (FindLocalCause(error, cancellationToken) is { } cause) return cause;
        return error is OperationCanceledException or ObjectDisposedException
            ? new GrpcException(GrpcStatusCode.Unavailable, $"{_channel.Address.Authority} could not be reached: {(error.InnerException ?? error).Message}", error)
            : GrpcTransportError.From(error, _channel.Address, responding: _reader is not null);
    }

    /// <summary>A failed write says little; the response, which the server may have given early, says why.</summary>
    private async Task<Exception> TranslateWriteAsync(Exception error, CancellationToken cancellationToken)
    {
        if (FindLocalCause(error, cancellationToken) is { } cause) return cause;
        try
        {
            HttpResponseMessage response = await _responding.ConfigureAwait(false);
            GrpcStatus? status = _status ?? GrpcResponseHead.FindStatus(response.Headers) ?? GrpcResponseHead.FindProblem(response);
            return status is { Code: not GrpcStatusCode.Ok }
                ? new GrpcException(status.Value, GrpcResponseHead.ReadMetadata(response.Headers), error)
                : new GrpcException(GrpcStatusCode.Cancelled, "The server takes no more requests; the responses say how the call ended.", error);
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or HttpRequestException)
        {
            return Translate(e, cancellationToken);
        }
    }

    private Exception? FindLocalCause(Exception error, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested) return new OperationCanceledException(error.Message, error, cancellationToken);
        if (_callerToken.IsCancellationRequested) return new OperationCanceledException(error.Message, error, _callerToken);
        if (_deadline is { IsCancellationRequested: true })
            return new GrpcException(GrpcStatusCode.DeadlineExceeded, $"The call took longer than {_options.Timeout}.", error);
        return _disposed ? new GrpcException(GrpcStatusCode.Cancelled, "The call was disposed.", error) : null;
    }
}
