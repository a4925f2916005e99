using System.Buffers;
using System.IO.Pipelines;
using LightQ.Server.Limits;
using Microsoft.AspNetCore.Connections;

namespace LightQ.Server.Hosting;

/// <summary>
/// What a client sends on a connection of HTTP/2, no faster than its <see cref="CallPace"/> lets it be heard; and the
/// end of the connection when something that it has begun takes too long.
/// </summary>
/// <param name="connection">The connection.</param>
/// <param name="input">What it receives.</param>
/// <param name="pace">Its pace.</param>
/// <param name="answers">What is being answered on it.</param>
/// <param name="limits">The limits.</param>
/// <param name="time">The clock.</param>
internal sealed class PacedReader(
    ConnectionContext connection,
    PipeReader input,
    CallPace pace,
    Http2Answers answers,
    ServerLimits limits,
    TimeProvider time
) : PipeReader
{
    private readonly TaskCompletionSource _cancelled = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Http2Scan _scan = new(answers.OnReset);
    private ReadOnlySequence<byte> _buffer;
    private long _scanned;
    private bool _isReading;
    private long _partialSince = time.GetTimestamp();

    public override async ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default)
    {
        await WaitAsync(cancellationToken).ConfigureAwait(false);
        ReadResult result = _scan.IsPartial
            ? await ReadInTimeAsync(cancellationToken).ConfigureAwait(false)
            : await input.ReadAsync(cancellationToken).ConfigureAwait(false);
        return Scan(result);
    }

    public override bool TryRead(out ReadResult result)
    {
        if (pace.Debt > TimeSpan.Zero || !input.TryRead(out result))
        {
            result = default;
            return false;
        }
        result = Scan(result);
        return true;
    }

    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        _scanned -= _buffer.Slice(0, consumed).Length;
        _buffer = default;
        _isReading = false;
        input.AdvanceTo(consumed, examined);
    }

    /// <summary>Kestrel does so when it is done with the connection: nothing is waited for any more.</summary>
    public override void CancelPendingRead()
    {
        _cancelled.TrySetResult();
        input.CancelPendingRead();
    }

    /// <summary>
    /// Kestrel reads no more; the input is read on until the client has closed it (<see cref="PaceGate"/>).
    /// </summary>
    public override void Complete(Exception? exception = null)
    {
        if (_isReading)
            AdvanceTo(_buffer.Start);
    }

    private async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        TimeSpan debt = pace.Debt;
        if (debt <= TimeSpan.Zero)
            return;
        limits.HttpRefusals.Refuse(
            nameof(HttpOptions.MaxCallsPerSecond),
            limits.Http.MaxCallsPerSecond,
            FormattableString.Invariant(
                $"{connection.RemoteEndPoint} calls faster, and is heard again in {debt.TotalMilliseconds:0} ms"
            )
        );
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, connection.ConnectionClosed);
        for (; debt > TimeSpan.Zero && !end.IsCancellationRequested; debt = pace.Debt)
        {
            // A delay counts whole milliseconds.
            var wait = TimeSpan.FromMilliseconds(Math.Ceiling(debt.TotalMilliseconds));
            if (
                await Task.WhenAny(Task.Delay(wait, time, end.Token), _cancelled.Task).ConfigureAwait(false)
                == _cancelled.Task
            )
            {
                await end.CancelAsync().ConfigureAwait(false); // The timer, too.
            }
        }
    }

    private async ValueTask<ReadResult> ReadInTimeAsync(CancellationToken cancellationToken)
    {
        TimeSpan patience = limits.Http.HeaderTimeout,
            left = patience - time.GetElapsedTime(_partialSince);
        using var enough = new CancellationTokenSource(left > TimeSpan.Zero ? left : TimeSpan.Zero, time);
        using CancellationTokenRegistration registration = enough.Token.UnsafeRegister(
            static self => ((PacedReader)self!).GiveUp(),
            this
        );
        return await input.ReadAsync(cancellationToken).ConfigureAwait(false);
    }

    private void GiveUp()
    {
        string reason = limits.HttpRefusals.Refuse(
            nameof(HttpOptions.HeaderTimeout),
            limits.Http.HeaderTimeout,
            $"{connection.RemoteEndPoint} takes too long for the headers of a request, or for a frame"
        );
        connection.Abort(new ConnectionAbortedException(reason));
    }

    /// <summary>Hands out a portion of what is there; the rest is there at the next read.</summary>
    private ReadResult Scan(ReadResult result)
    {
        bool wasPartial = _scan.IsPartial;
        int completed = _scan.Completed;
        long cost = 0,
            most = pace.Portion;
        foreach (ReadOnlyMemory<byte> piece in result.Buffer.Slice(_scanned))
        {
            int taken = _scan.Take(piece.Span, ref cost, most);
            _scanned += taken;
            if (taken < piece.Length)
                break;
        }
        pace.Spend(cost);
        if (_scan.IsPartial && (!wasPartial || completed != _scan.Completed))
            _partialSince = time.GetTimestamp();
        _buffer = result.Buffer.Slice(0, _scanned);
        _isReading = true;
        return new ReadResult(_buffer, result.IsCanceled, result.IsCompleted && _scanned == result.Buffer.Length);
    }
}
