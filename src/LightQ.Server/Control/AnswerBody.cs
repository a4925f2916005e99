using System.IO.Pipelines;
using System.Net;
using LightQ.Server.Hosting;
using LightQ.Server.Limits;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;

namespace LightQ.Server.Control;

/// <summary>
/// What an answer over HTTP writes: what is not sent yet counts among all bodies under way, and a client that does not
/// read it in time is cut off. It begins with the request and ends when the last byte of the answer is sent.
/// </summary>
/// <remarks>
/// As on the data plane one send has <see cref="DataPlaneOptions.StalledReaderTimeout"/>, and a longer one as much
/// again for each <see cref="SendBytes"/>. A stream of answers may be idle for any time; what it has written may not.
/// <para>
/// Over HTTP/2 a flush, and the end of a request, say little: the web server keeps what the client has granted no
/// window for. <see cref="Http2Answers"/> says what goes out.
/// </para>
/// </remarks>
internal sealed class AnswerBody : PipeWriter, IHttpResponseBodyFeature
{
    /// <summary>What a send has on the data plane, in bytes.</summary>
    private const int SendBytes = 320 * 1024;

    /// <summary>What a byte of an answer costs until it is read: itself, and what it was made of.</summary>
    private const int Cost = 2;

    /// <summary>CANCEL, of HTTP/2.</summary>
    private const int Cancel = 8;

    private readonly HttpContext _http;
    private readonly IHttpResponseBodyFeature _inner;
    private readonly ServerLimits _limits;
    private readonly IPAddress? _remote;
    private readonly BodyAccount _account;
    private readonly Http2Answers? _answers;
    private readonly IHttpResetFeature? _stream;
    private readonly int _streamId;
    private readonly Lock _lock = new();
    private Stream? _asStream;
    private ITimer? _timer;
    private Action? _ended;
    private long _pending;
    private long _awaited; // Bytes, until the client has been in time.
    private bool _isWaiting;
    private bool _isOut;
    private bool _isCompleted;
    private bool _isEnded;

    private AnswerBody(HttpContext http, IHttpResponseBodyFeature inner, ServerLimits limits)
    {
        _http = http;
        _inner = inner;
        _limits = limits;
        _remote = http.Connection.RemoteIpAddress;
        _account = new BodyAccount(limits, _remote);
        if (http.Features.Get<IHttp2StreamIdFeature>() is not { } id)
            return;
        _answers = Http2Answers.Of(http);
        _stream = http.Features.Get<IHttpResetFeature>();
        _streamId = id.StreamId;
    }

    public override bool CanGetUnflushedBytes => _inner.Writer.CanGetUnflushedBytes;

    public override long UnflushedBytes => _inner.Writer.UnflushedBytes;

    public Stream Stream => _asStream ??= AsStream(leaveOpen: true);

    public PipeWriter Writer => this;

    /// <summary>Serves a request whose answer is watched.</summary>
    public static async Task InvokeAsync(HttpContext http, ServerLimits limits, RequestDelegate next)
    {
        var answer = new AnswerBody(http, http.Features.GetRequiredFeature<IHttpResponseBodyFeature>(), limits);
        http.Features.Set<IHttpResponseBodyFeature>(answer);
        http.Features.Set(answer);
        answer._answers?.Begin(answer._streamId, answer.OnTaken);
        http.Response.OnCompleted(static answer => ((AnswerBody)answer).EndAsync(), answer);
        await next(http).ConfigureAwait(false);
        // The web server sends the rest.
        answer.Wait();
    }

    /// <summary>Does something when the answer of a request is sent, or will never be.</summary>
    public static void OnEnd(HttpContext http, Action ended) =>
        http.Features.GetRequiredFeature<AnswerBody>()._ended += ended;

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

    /// <summary>Over HTTP/2: some of the answer goes out.</summary>
    /// <param name="bytes">How much of what was written.</param>
    /// <param name="isLast">Whether nothing comes behind it.</param>
    private void OnTaken(int bytes, bool isLast)
    {
        lock (_lock)
        {
            if (_isEnded)
                return;
            _isOut |= isLast;
            if (_isOut && _isCompleted)
            {
                End();
                return;
            }
            _pending = isLast ? 0 : Math.Max(0, _pending - bytes);
            _account.TrySet(Cost * _pending, out _);
            _awaited -= bytes;
            if (!_isWaiting || (_awaited > 0 && !isLast))
                return;
            Rest();
            if (_pending != 0)
                Arm();
        }
    }

    private ValueTask<FlushResult> WatchAsync(ValueTask<FlushResult> sending)
    {
        if (_answers is not null)
        {
            Wait();
            return sending;
        }
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
        string? found = null;
        bool hasRoom = true;
        lock (_lock)
        {
            _pending += bytes;
            if (_pending > BodyAccount.Free && !_isOut && !_isEnded)
            {
                _account.User = CallPrincipal.Find(_http)?.Source;
                hasRoom = _account.TrySet(Cost * _pending, out found);
            }
        }
        if (hasRoom)
            return;
        _limits.DataPlaneRefusals.Refuse(
            nameof(DataPlaneOptions.MaxAssemblyBytes),
            _limits.DataPlane.MaxAssemblyBytes,
            found!
        );
        _http.Abort();
    }

    /// <summary>From now on the client is to read.</summary>
    private void Wait()
    {
        lock (_lock)
        {
            if ((_pending != 0 || _answers is null) && !_isWaiting && !_isOut)
                Arm();
        }
    }

    /// <summary>Gives the client time for what is pending. Under the lock.</summary>
    private void Arm()
    {
        if (_isEnded)
            return;
        TimeSpan patience = _limits.DataPlane.StalledReaderTimeout * (1 + (_pending / SendBytes));
        (_isWaiting, _awaited) = (true, _pending);
        _timer ??= _limits.Options.ConnectionTime.CreateTimer(
            static answer => ((AnswerBody)answer!).GiveUp(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
        _timer.Change(patience, Timeout.InfiniteTimeSpan);
    }

    /// <summary>The client was in time. Under the lock.</summary>
    private void Rest()
    {
        if (!_isWaiting)
            return;
        _isWaiting = false;
        _timer!.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    private void Sent()
    {
        lock (_lock)
        {
            _pending = 0;
            _account.Clear();
            Rest();
        }
    }

    private void GiveUp()
    {
        bool isCompleted;
        lock (_lock)
        {
            if (!_isWaiting)
                return;
            isCompleted = _isCompleted;
            if (isCompleted)
                End();
        }
        _limits.DataPlaneRefusals.Refuse(
            nameof(DataPlaneOptions.StalledReaderTimeout),
            _limits.DataPlane.StalledReaderTimeout,
            $"{_remote} does not read its answer"
        );
        // The request is another's by now where it has completed, but the stream is not, as it is not out.
        if (isCompleted)
            _stream?.Reset(Cancel);
        else
            _http.Abort();
    }

    /// <summary>The web server has done with the request; over HTTP/2 not yet with its answer.</summary>
    private Task EndAsync()
    {
        bool isGone = _http.RequestAborted.IsCancellationRequested;
        lock (_lock)
        {
            _isCompleted = true;
            if (_answers is null || _isOut || isGone)
                End();
            else if (!_isWaiting)
                Arm();
        }
        return Task.CompletedTask;
    }

    /// <summary>Nothing of it is here any more. Under the lock.</summary>
    private void End()
    {
        if (_isEnded)
            return;
        (_isEnded, _isWaiting, _pending) = (true, false, 0);
        _answers?.Forget(_streamId);
        _account.Clear();
        _timer?.Dispose();
        _ended?.Invoke();
    }
}
