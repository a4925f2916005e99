using LightQ.Broker.Replication;

namespace LightQ.ClusterTests.Log;

/// <summary>
/// A replicated stream in memory, over a network that loses requests and answers, and delivers late. What it stores and
/// refuses is what JetStream does: an entry behind the expected last sequence, or nothing.
/// </summary>
internal sealed class FaultyStream(int seed, double faults = 0)
{
    private const int LongestDelay = 3;
    private readonly Random _random = new(seed);
    private readonly Lock _lock = new();
    private readonly List<StreamEntry> _entries = [];
    private ulong _last;

    private enum Fault
    {
        None,
        LostRequest,
        LostAnswer,
        LateRequest,
    }

    /// <summary>Everything that is stored and was not purged.</summary>
    public StreamEntry[] Entries
    {
        get
        {
            lock (_lock)
                return [.. _entries];
        }
    }

    /// <summary>Why the engine takes nothing; null while it does.</summary>
    public string? Full { get; set; }

    /// <summary>Whether it stores what it says that it has no room for, as a server may at its limit.</summary>
    public bool StoresWhenFull { get; set; }

    /// <summary>Whether nobody takes appends, though replicas answer who reads: it has no leader.</summary>
    public bool IsLeaderless { get; set; }

    /// <summary>What reading its bounds throws, as a defect of a client would; null for nothing.</summary>
    public Exception? Defect { get; set; }

    /// <summary>The stream as one node reaches it.</summary>
    public Link Connect() => new(() => this);

    /// <summary>Removes everything, as an operator may; what comes then goes on behind it.</summary>
    public void PurgeAll()
    {
        lock (_lock)
            _entries.Clear();
    }

    /// <summary>Becomes what it was when it had so many entries, as an older snapshot that is restored.</summary>
    public void Restore(ulong last)
    {
        lock (_lock)
        {
            _entries.RemoveAll(entry => entry.Sequence > last);
            _last = last;
        }
    }

    /// <summary>Has again what it had.</summary>
    public void Refill(IEnumerable<StreamEntry> entries)
    {
        lock (_lock)
            _entries.InsertRange(0, entries);
    }

    private StreamBounds Bounds()
    {
        lock (_lock)
            return new StreamBounds(_entries is [var first, ..] ? first.Sequence : _last + 1, _last);
    }

    /// <summary>Loses what it had stored, as no engine may.</summary>
    public void Lose(ulong first, ulong last)
    {
        lock (_lock)
            _entries.RemoveAll(entry => entry.Sequence >= first && entry.Sequence <= last);
    }

    private EntryAppend Store(EntryKind kind, byte[] payload, ulong expectedLast)
    {
        lock (_lock)
        {
            if (expectedLast != _last)
                return EntryAppend.Refused($"wrong last sequence: {_last}");
            if (Full is { } full && !StoresWhenFull)
                return EntryAppend.Full(full);
            _last++;
            _entries.Add(new StreamEntry(expectedLast + 1, kind, payload));
            if (Full is not null)
                return EntryAppend.Full(Full);
            return EntryAppend.Stored(expectedLast + 1);
        }
    }

    private ulong Purge(EntryKind kind, ulong before)
    {
        lock (_lock)
            return (ulong)_entries.RemoveAll(entry => entry.Kind == kind && entry.Sequence < before);
    }

    private Fault Draw()
    {
        lock (_lock)
            return _random.NextDouble() >= faults ? Fault.None : (Fault)_random.Next(1, 4);
    }

    private int DrawDelay()
    {
        lock (_lock)
            return _random.Next(0, LongestDelay);
    }

    /// <summary>One node's way to the stream, which can be cut: what it sends then arrives when it is healed.</summary>
    /// <param name="find">The stream; null while there is none.</param>
    internal sealed class Link(Func<FaultyStream?> find) : IReplicatedStream
    {
        private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(20);
        private readonly Lock _cutLock = new();
        private List<Action>? _held;
        private long _entriesRead;

        public string Name => "memory";

        /// <summary>How late the stream's end and its entries come.</summary>
        public TimeSpan ReadDelay { get; set; }

        /// <summary>How many entries have been read this way.</summary>
        public long EntriesRead => Interlocked.Read(ref _entriesRead);

        /// <summary>How much waits to arrive.</summary>
        public int Held
        {
            get
            {
                lock (_cutLock)
                    return _held?.Count ?? 0;
            }
        }

        /// <summary>From now on nothing arrives, and nothing is answered.</summary>
        public void Cut()
        {
            lock (_cutLock)
                _held ??= [];
        }

        /// <summary>What was sent meanwhile arrives, in its order.</summary>
        public void Heal()
        {
            List<Action>? held;
            lock (_cutLock)
                (held, _held) = (_held, null);
            foreach (Action request in held ?? [])
                request();
        }

        public async ValueTask<EntryAppend> AppendAsync(
            EntryKind kind,
            ReadOnlyMemory<byte> payload,
            ulong expectedLast,
            CancellationToken cancellationToken
        )
        {
            byte[] sent = payload.ToArray();
            if (TryHold(() => find()?.Store(kind, sent, expectedLast)))
            {
                await Task.Delay(Patience, cancellationToken);
                return EntryAppend.Unknown("no answer in time");
            }
            if (find() is not { } stream)
                return EntryAppend.Unknown("there is no such stream");
            if (stream.IsLeaderless)
            {
                await Task.Delay(Patience, cancellationToken);
                return EntryAppend.Unknown("no server answers for it");
            }
            Fault fault = stream.Draw();
            await PauseAsync(cancellationToken);
            EntryAppend answer = fault is Fault.None or Fault.LostAnswer
                ? stream.Store(kind, sent, expectedLast)
                : EntryAppend.Unknown("no answer in time");
            await PauseAsync(cancellationToken);
            if (fault == Fault.LateRequest)
                _ = ArriveLateAsync(() => stream.Store(kind, sent, expectedLast));
            return fault == Fault.None ? answer : EntryAppend.Unknown("no answer in time");
        }

        public async ValueTask<StreamBounds> GetBoundsAsync(CancellationToken cancellationToken)
        {
            if (find()?.Defect is { } defect)
                throw defect;
            StreamBounds bounds = Reach().Bounds();
            if (ReadDelay != default)
                await Task.Delay(ReadDelay, cancellationToken);
            return bounds;
        }

        public ValueTask<StreamReport> ExamineAsync(CancellationToken cancellationToken)
        {
            FaultyStream? stream;
            try
            {
                stream = Reach();
            }
            catch (ReplicationException e) when (e.IsLoss)
            {
                return ValueTask.FromResult(default(StreamReport));
            }
            lock (stream._lock)
            {
                return ValueTask.FromResult(
                    new StreamReport(true, stream.Bounds(), (ulong)stream._entries.Count, Altered: null)
                );
            }
        }

        public ValueTask<StreamEntry?> GetAsync(ulong sequence, CancellationToken cancellationToken) =>
            ValueTask.FromResult(Count(Reach().Entries.FirstOrDefault(entry => entry.Sequence == sequence)));

        public ValueTask<StreamEntry?> GetLastAsync(EntryKind kind, CancellationToken cancellationToken) =>
            ValueTask.FromResult(Count(Reach().Entries.LastOrDefault(entry => entry.Kind == kind)));

        public async IAsyncEnumerable<StreamEntry> ReadAsync(
            ulong first,
            ulong last,
            [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken
        )
        {
            foreach (StreamEntry entry in Reach().Entries)
            {
                if (entry.Sequence >= first && entry.Sequence <= last)
                    yield return Count(entry)!.Value;
            }
            await PauseAsync(cancellationToken);
        }

        public ValueTask<ulong> PurgeAsync(EntryKind kind, ulong before, CancellationToken cancellationToken) =>
            ValueTask.FromResult(Reach().Purge(kind, before));

        private StreamEntry? Count(in StreamEntry found)
        {
            if (found.Sequence == 0)
                return null;
            Interlocked.Increment(ref _entriesRead);
            return found;
        }

        private FaultyStream Reach()
        {
            lock (_cutLock)
            {
                if (_held is not null)
                    throw new ReplicationException("memory: no answer in time.");
            }
            return find() ?? throw new ReplicationException("memory: there is no such stream.") { IsLoss = true };
        }

        private bool TryHold(Action request)
        {
            lock (_cutLock)
            {
                _held?.Add(request);
                return _held is not null;
            }
        }

        private async Task ArriveLateAsync(Action request)
        {
            for (int i = 0; i < 3; i++)
                await PauseAsync(CancellationToken.None);
            if (!TryHold(request))
                request();
        }

        private async Task PauseAsync(CancellationToken cancellationToken)
        {
            int delay = find()?.DrawDelay() ?? 0;
            if (delay == 0)
                await Task.Yield();
            else
                await Task.Delay(delay, cancellationToken);
        }
    }
}
