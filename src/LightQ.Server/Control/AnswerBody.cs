using System.IO.Pipelines;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace LightQ.Server.Control;

/// <summary>
/// What an answer over HTTP writes: what is not sent yet counts among all bodies under way, and a client that does not
/// read it in time is cut off. It begins with the request and ends when the last byte of the answer is sent.
/// </summary>
/// <remarks>
/// As on the data plane one send has <see cref="DataPlaneOptions.StalledReaderTimeout"/>, and a longer one as much
/// again for each <see cref="SendBytes"/>. A stream of answers may be idle for any time; what it has written may not. Of
/// HTTP/2 the web server takes 64 KiB of a stream for flushed, and the end of an answer for sent, that a client has
/// granted no window for: that is not seen here.
/// </remarks>
internal sealed class AnswerBody : PipeWriter, IHttpResponseBodyFeature
{
    /// <summary>What a send has on the data plane, in bytes.</summary>
    private const int SendBytes = 320 * 1024;

    /// <summary>What a byte of an answer costs until it is read: itself, and what it was made of.</summary>
    private const int Cost = 2;

    private readonly HttpContext _http;
    private readonly IHttpResponseBodyFeature _inner;
    private readonly ServerLimits _limits;
    private readonly BodyAccount _account;
    private readonly Lock _lock = new();
    private Stream? _stream;
    private ITimer? _timer;
    private long _pending;
    private bool _isWaiting;
    private bool _isEnded;

    private AnswerBody(HttpContext http, IHttpResponseBodyFeature inner, ServerLimits limits)
    {
        _http = http;
        _inner = inner;
        _limits = limits;
        _account = new BodyAccount(limits, http.Connection.RemoteIpAddress);
    }

    public override bool CanGetUnflushedBytes => _inner.Writer.CanGetUnflushedBytes;

    public override long UnflushedBytes => _inner.Writer.UnflushedBytes;

    public Stream Stream => _stream ??= AsStream(leaveOpen: true);

    public PipeWriter Writer => this;

    /// <summary>Serves a request whose answer is watched.</summary>
    public static async Task InvokeAsync(HttpContext http, ServerLimits limits, RequestDelegate next)
    {
        var answer = new AnswerBody(http, http.Features.GetRequiredFeature<IHttpResponseBodyFeature>(), limits);
        http.Features.Set<IHttpResponseBodyFeature>(answer);
        http.Response.OnCompleted(static answer => ((AnswerBody)answer).EndAsync(), answer);
        await next(http).ConfigureAwait(false);
        // The web server sends the rest.
        answer.Wait();
    }

    public void DisableBuffering() => _inner.DisableBuffering();

    public Task StartAsync(CancellationToken cancellationToken = default) => _inner.StartAsync(cancellationToken);

    public Task SendFileAsync(string path, long offset, long? count, CancellationToken cancellationToken = default) =>
        _inner.SendFileAsync(path, offset, count, cancellationToken);

    public Task CompleteAsync() => _inner.CompleteAsync();

    public override Memory<byte> GetMemory(int sizeHint = 0) => _inner.Writer.GetMemory(sizeHint);

    public override Span<byte> GetSpan(int sizeHint = 0) => _inner.Writer.GetSpan(sizeHint);

    public override void Advance(int bytes)
    {
        _inner.Writer.Advance(bytes);
        Count(bytes);
    }

    public override void CancelPendingFlush() => _inner.Writer.CancelPendingFlush();

    public override void Complete(Exception? exception = null) => _inner.Writer.Complete(exception);

    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) =>
        WatchAsync(_inner.Writer.FlushAsync(cancellationToken));

    public override ValueTask<FlushResult> WriteAsync(
        ReadOnlyMemory<byte> source,
        CancellationToken cancellationToken = default
    )
    {
        Count(source.Length);
        return WatchAsync(_inner.Writer.WriteAsync(source, cancellationToken));
    }

    private ValueTask<FlushResult> WatchAsync(ValueTask<FlushResult> sending)
    {
        if (!sending.IsCompleted)
            return AwaitAsync(sending);
        Sent();
        return sending;
    }

    private async ValueTask<FlushResult> AwaitAsync(ValueTask<FlushResult> sending)
    {
        Wait();
        try
        {
            return await sending.ConfigureAwait(false);
        }
        finally
        {
            Sent();
        }
    }

    /// <summary>More is written than was sent.</summary>
    private void Count(int bytes)
    {
        _pending += bytes;
        if (_pending <= BodyAccount.Free)
            return;
        _account.User = CallPrincipal.Find(_http)?.Source;
        if (!_account.TrySet(Cost * _pending, out string? found))
        {
            _limits.DataPlaneRefusals.Refuse(
                nameof(DataPlaneOptions.MaxAssemblyBytes),
                _limits.DataPlane.MaxAssemblyBytes,
                found!
            );
            _http.Abort();
        }
    }

    /// <summary>From now on the client is to read.</summary>
    private void Wait()
    {
        TimeSpan patience = _limits.DataPlane.StalledReaderTimeout * (1 + (_pending / SendBytes));
        lock (_lock)
        {
            if (_isEnded)
                return;
            _isWaiting = true;
            _timer ??= _limits.Options.ConnectionTime.CreateTimer(
                static answer => ((AnswerBody)answer!).GiveUp(),
                this,
                Timeout.InfiniteTimeSpan,
                Timeout.InfiniteTimeSpan
            );
            _timer.Change(patience, Timeout.InfiniteTimeSpan);
        }
    }

    private void Sent()
    {
        _pending = 0;
        _account.Clear();
        lock (_lock)
        {
            if (!_isWaiting)
                return;
            _isWaiting = false;
            _timer!.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    private void GiveUp()
    {
        lock (_lock)
        {
            if (!_isWaiting)
                return;
        }
        _limits.DataPlaneRefusals.Refuse(
            nameof(DataPlaneOptions.StalledReaderTimeout),
            _limits.DataPlane.StalledReaderTimeout,
            $"{_http.Connection.RemoteIpAddress} does not read its answer"
        );
        _http.Abort();
    }

    private Task EndAsync()
    {
        Sent();
        lock (_lock)
        {
            _isEnded = true;
            _timer?.Dispose();
        }
        return Task.CompletedTask;
    }
}
