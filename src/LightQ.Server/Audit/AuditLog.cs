using System.Threading.Channels;
using LightQ.Server.Security;
using LightQ.Storage.Files;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Audit;

/// <summary>
/// Records the events of logins, rights, topics and the broker itself, in order, on the disk. Thread-safe.
/// </summary>
/// <remarks>
/// A thread of the pool writes; callers only queue events. An event that a caller waits for is synced at once, together
/// with those of other callers; logins within <see cref="SyncInterval"/>. Logins beyond an allowance are counted, and
/// summarised once a minute. While the disk accepts nothing, events wait in memory, and no caller waits for them.
/// </remarks>
internal sealed class AuditLog : IAsyncDisposable
{
    /// <summary>How long a login may be written without being synced.</summary>
    public static readonly TimeSpan SyncInterval = TimeSpan.FromSeconds(1);

    /// <summary>How often the events that were only counted are logged.</summary>
    public static readonly TimeSpan SummaryInterval = TimeSpan.FromMinutes(1);

    private static readonly TimeSpan RetryInterval = TimeSpan.FromSeconds(1),
        Patience = TimeSpan.FromSeconds(5);
    private const int MostWaiting = 10_000;

    private readonly Channel<Entry> _queue = Channel.CreateUnbounded<Entry>(
        new UnboundedChannelOptions { SingleReader = true }
    );
    private readonly Queue<Entry> _unwritten = new();
    private readonly List<TaskCompletionSource> _unsynced = [];
    private readonly Lock _counting = new();
    private readonly LoginAllowance _refused,
        _accepted;
    private readonly AuditWriter _writer;
    private readonly AuditReader _reader;
    private readonly TimeProvider _time,
        _clock;
    private readonly ILogger _logger;
    private readonly Task _running;
    private long _summarised;
    private long? _dirtySince;
    private int _waiting;
    private long _lost;
    private volatile bool _isFailing;

    /// <param name="files">The disk.</param>
    /// <param name="directory">Where the files are; made when something is to be written.</param>
    /// <param name="options">How large and how many.</param>
    /// <param name="time">What lines are stamped with.</param>
    /// <param name="clock">What waits are measured with.</param>
    /// <param name="logger">Hears of trouble.</param>
    /// <exception cref="IOException">What is there cannot be read.</exception>
    public AuditLog(
        IFileSystem files,
        string directory,
        AuditOptions options,
        TimeProvider time,
        TimeProvider clock,
        ILogger logger
    )
    {
        (_time, _clock, _logger) = (time, clock, logger);
        _writer = new AuditWriter(files, directory, options, time.GetUtcNow);
        _reader = new AuditReader(files, directory);
        _refused = new LoginAllowance(burst: 100, perSecond: 1, clock);
        _accepted = new LoginAllowance(burst: 2000, perSecond: 10, clock);
        _summarised = clock.GetTimestamp();
        if (_writer.Problem is { } problem)
            AuditMessages.Broken(logger, directory, problem);
        _running = Task.Run(RunAsync);
    }

    /// <summary>Whether the disk takes nothing, so that events wait in memory.</summary>
    public bool IsFailing => _isFailing;

    /// <summary>Takes other sizes; they count from the next line on.</summary>
    public void Apply(AuditOptions options) => _writer.Options = options;

    /// <summary>Reads a page of what was written.</summary>
    /// <exception cref="IOException">The files cannot be read.</exception>
    public AuditPage Read(AuditQuery query) => _reader.Read(query, _writer.End);

    /// <summary>Takes an event that no caller waits for.</summary>
    public void Write(SecurityEvent happened) => Enqueue(happened, null);

    /// <summary>
    /// Takes an event; completes when it is on the disk, or when the disk is known to accept nothing, which is then
    /// logged in the server's log.
    /// </summary>
    public async Task WriteAsync(SecurityEvent happened)
    {
        var synced = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Enqueue(happened, synced);
        if (_isFailing)
            return;
        await synced.Task.WaitAsync(Patience, _clock).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!synced.Task.IsCompletedSuccessfully)
            AuditMessages.Late(_logger, happened.Action, happened.Subject, Patience);
    }

    /// <summary>Writes what is left, and the end.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _running.ConfigureAwait(false);
        _writer.Dispose();
    }

    private void Enqueue(SecurityEvent happened, TaskCompletionSource? synced)
    {
        if (happened.Action is SecurityAction.LoginRefused or SecurityAction.LoginAccepted or SecurityAction.LoggedOut)
        {
            lock (_counting)
            {
                LoginAllowance allowance = happened.Action == SecurityAction.LoginRefused ? _refused : _accepted;
                if (!allowance.TryTake(happened.Origin))
                    return;
            }
        }
        if (
            Interlocked.Increment(ref _waiting) > MostWaiting
            || !_queue.Writer.TryWrite(new Entry(happened, _time.GetUtcNow(), synced))
        )
        {
            Interlocked.Decrement(ref _waiting);
            Interlocked.Increment(ref _lost);
            synced?.TrySetResult();
        }
    }

    private async Task RunAsync()
    {
        Task<bool> more = _queue.Reader.WaitToReadAsync().AsTask();
        bool isEnd = false;
        while (!isEnd)
        {
            await ((Task)more).WaitAsync(UntilDue(), _clock).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (more.IsCompleted)
            {
                isEnd = !await more.ConfigureAwait(false);
                while (_queue.Reader.TryRead(out Entry? entry))
                    _unwritten.Enqueue(entry);
                if (!isEnd)
                    more = _queue.Reader.WaitToReadAsync().AsTask();
            }
            Work(isEnd);
        }
    }

    private void Work(bool isEnd)
    {
        try
        {
            while (_unwritten.TryPeek(out Entry? entry))
            {
                _writer.Append(entry.ToLine());
                _unwritten.Dequeue();
                Interlocked.Decrement(ref _waiting);
                if (entry.Synced is { } synced)
                    _unsynced.Add(synced);
            }
            Summarise(isEnd);
            if (isEnd || _isFailing || _unsynced.Count != 0 || IsSyncDue())
                Sync();
            Recovered();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            if (!_isFailing || isEnd)
                AuditMessages.Failed(_logger, e.Message, _unwritten.Count);
            _isFailing = true;
            foreach (
                TaskCompletionSource synced in _unsynced.Concat(
                    _unwritten.Select(u => u.Synced).OfType<TaskCompletionSource>()
                )
            )
            {
                synced.TrySetResult(); // The log has said it.
            }

            _unsynced.Clear();
        }
    }

    private void Sync()
    {
        _writer.Sync();
        foreach (TaskCompletionSource synced in _unsynced)
            synced.TrySetResult();
        _unsynced.Clear();
    }

    private void Recovered()
    {
        if (_isFailing)
            AuditMessages.Recovered(_logger);
        _isFailing = false;
        if (Interlocked.Exchange(ref _lost, 0) is var lost and > 0)
        {
            _writer.Append(
                AuditEvent.EventsLost,
                "",
                $"{lost} events found no place in memory while the disk took nothing"
            );
            _writer.Sync();
        }
    }

    /// <summary>Tells what was only counted, when its time has come.</summary>
    private void Summarise(bool isEnd)
    {
        string? refused = null,
            accepted = null;
        lock (_counting)
        {
            if (
                (_refused.Counted == 0 && _accepted.Counted == 0)
                || (!isEnd && _clock.GetElapsedTime(_summarised) < SummaryInterval)
            )
            {
                return;
            }

            refused = _refused.Counted == 0 ? null : _refused.Summarise();
            accepted = _accepted.Counted == 0 ? null : _accepted.Summarise();
        }
        _summarised = _clock.GetTimestamp();
        if (refused is not null)
            _writer.Append(AuditEvent.LoginsSummarised, AuditLine.NameOf(SecurityAction.LoginRefused), refused);
        if (accepted is not null)
            _writer.Append(AuditEvent.LoginsSummarised, AuditLine.NameOf(SecurityAction.LoginAccepted), accepted);
    }

    private bool IsSyncDue() => _dirtySince is { } since && _clock.GetElapsedTime(since) >= SyncInterval;

    /// <summary>How long until there is something to do without anything happening.</summary>
    private TimeSpan UntilDue()
    {
        if (_isFailing)
            return RetryInterval;
        _dirtySince = _writer.IsDirty ? _dirtySince ?? _clock.GetTimestamp() : null;
        TimeSpan? untilSync = _dirtySince is { } since ? SyncInterval - _clock.GetElapsedTime(since) : null;
        bool isCounting;
        lock (_counting)
            isCounting = _refused.Counted + _accepted.Counted > 0;
        TimeSpan? untilSummary = isCounting ? SummaryInterval - _clock.GetElapsedTime(_summarised) : null;
        TimeSpan? due = untilSync is null || untilSummary < untilSync ? untilSummary : untilSync;
        return due is not { } wait ? Timeout.InfiniteTimeSpan
            : wait > TimeSpan.Zero ? wait
            : TimeSpan.Zero;
    }

    private sealed record Entry(SecurityEvent Event, DateTimeOffset Time, TaskCompletionSource? Synced)
    {
        public AuditLine ToLine() =>
            new(
                0,
                Time,
                AuditLine.NameOf(Event.Action),
                Event.Actor,
                Event.Origin.Plane,
                Event.Origin.Address,
                Event.Subject,
                Event.Detail,
                "",
                ""
            );
    }
}
