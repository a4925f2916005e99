using LightQ.Broker.Logs;
using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Storage;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>
/// One node with one partition: over a stream, a replicated log for each time that it owns the partition, with the
/// memory of its producers, and a journal of its own that outlives them.
/// </summary>
internal sealed class ReplicaNode(
    string name,
    IReplicatedStream stream,
    string directory,
    int maxEntryBytes = 1 << 20,
    Func<ReplicatedLogOptions, ReplicatedLogOptions>? shape = null
) : IAsyncDisposable
{
    private readonly JournalEnvironment _environment = new(new JournalEnvironmentOptions { Writers = 1, Readers = 1 });
    private readonly SemaphoreSlim _claiming = new(1);
    private volatile Ownership? _owned;
    private Ownership? _prepared;

    public string Name => name;

    /// <summary>The log of the last time that it claimed.</summary>
    public ReplicatedLog Log => _owned?.Log ?? throw new InvalidOperationException("It has never claimed.");

    public bool IsOwner => _owned?.Log.IsOwner == true;

    /// <summary>The file that says how far of the stream the journal goes.</summary>
    public static string MarkOf(string directory) => Path.Combine(directory, "stream.mark");

    /// <summary>
    /// Opens the partition, and reads what the journal lacks until it goes up to the stream's end; the next claim begins
    /// with that.
    /// </summary>
    public async Task FillAsync(CancellationToken cancellationToken)
    {
        if (_owned is { } before)
            await before.DisposeAsync();
        _owned = null;
        _prepared = new Ownership(stream, directory, 0, _environment, maxEntryBytes, shape);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var near = new TaskCompletionSource();
        Task filling = _prepared.Log.Fill.RunAsync(near.SetResult, stop.Token);
        await Task.WhenAny(near.Task, filling);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => filling);
        Assert.True(_prepared.Log.Fill.IsNear);
    }

    /// <summary>Claims the partition, whoever has it; nothing when this node does.</summary>
    public async Task ClaimAsync(CancellationToken cancellationToken)
    {
        await _claiming.WaitAsync(cancellationToken);
        try
        {
            if (IsOwner)
                return;
            if (_owned is { } before)
                await before.DisposeAsync();
            _owned = null;
            long first = 0;
            while (_owned is null)
            {
                Ownership owned =
                    _prepared ?? new Ownership(stream, directory, first, _environment, maxEntryBytes, shape);
                _prepared = null;
                try
                {
                    await owned.Log.ClaimAsync(name, cancellationToken);
                    _owned = owned;
                }
                catch (ReplicationException) when (owned.Log.Copy.StreamFront is { } front)
                {
                    first = front;
                    await owned.Log.DeleteAsync();
                }
                catch
                {
                    await owned.DisposeAsync();
                    throw;
                }
            }
        }
        finally
        {
            _claiming.Release();
        }
    }

    /// <summary>Publishes one batch, as a producer's stream does.</summary>
    /// <returns>
    /// Its offset, -1 for a duplicate's, when it is acknowledged; null when nobody knows what becomes of it.
    /// </returns>
    public async Task<long?> PublishAsync(ulong producer, ulong sequence, int records)
    {
        byte[] batch = TestBatch.Make(producer, sequence, records);
        while (_owned is { } owned && owned.TryPublish(producer, sequence, batch, out Task<long?>? answer))
        {
            owned.Log.Flush();
            owned.OnCommitted(); // A duplicate's is committed, and nothing else may ever be.
            if (answer is not null)
                return await answer;
            await Task.Delay(1); // The ring is full.
        }
        return null;
    }

    /// <summary>The batches that its own journal holds, from its first.</summary>
    public List<Stored> ReadJournal() => _owned is { } owned ? owned.ReadJournal() : [];

    /// <summary>Ends it as a clean stop does.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_owned is { } owned)
            await owned.DisposeAsync();
        if (_prepared is { } prepared)
            await prepared.DisposeAsync();
        _environment.Dispose();
        _claiming.Dispose();
    }

    /// <summary>One time that the node owns the partition.</summary>
    private sealed class Ownership : IJournalListener, IAsyncDisposable
    {
        private static readonly Guid Topic = new("00112233-4455-6677-8899-aabbccddeeff");
        private readonly Lock _appendLock = new();
        private readonly ProducerMemory _producers = new();
        private readonly List<Waiting> _waiting = [];
        private readonly Journal _journal;

        public Ownership(
            IReplicatedStream stream,
            string directory,
            long firstOffset,
            JournalEnvironment environment,
            int maxEntryBytes,
            Func<ReplicatedLogOptions, ReplicatedLogOptions>? shape
        )
        {
            _journal = Journal.Open(
                new JournalOptions
                {
                    Directory = directory,
                    FirstOffset = firstOffset,
                    TopicId = Topic,
                    RingBytes = 64 * 1024,
                    SegmentBytes = 256 * 1024,
                    MaxBatchBytes = 16 * 1024,
                    ReadLevel = Durability.Written,
                    Flush = Durability.Written,
                },
                environment
            );
            var options = new ReplicatedLogOptions
            {
                RingBytes = 128 * 1024,
                MaxBatchBytes = 16 * 1024,
                MaxEntryBytes = maxEntryBytes,
                MaxRunBytes = 32 * 1024,
                SnapshotBytes = 64 * 1024,
                MarkPath = MarkOf(directory),
            };
            Log = new ReplicatedLog(
                stream,
                _journal,
                _producers,
                shape?.Invoke(options) ?? options,
                _appendLock,
                TimeProvider.System,
                OnCommitted
            );
            _journal.Listener = this;
            _ = GiveUpAsync();
        }

        public ReplicatedLog Log { get; }

        public bool TryPublish(ulong producer, ulong sequence, byte[] batch, out Task<long?>? answer)
        {
            answer = null;
            lock (_appendLock)
            {
                if (!Log.IsOwner)
                    return false;
                long offset = -1;
                if (!_producers.IsDuplicate(producer, sequence))
                {
                    AppendResult result = Log.TryAppend(batch, appendTime: 1, out offset);
                    if (result == AppendResult.Full)
                        return true;
                    Assert.Equal(AppendResult.Appended, result);
                    _producers.Remember(producer, sequence);
                }
                var waiting = new Waiting(Log.EndPosition, offset);
                answer = waiting.Answer.Task;
                lock (_waiting)
                    _waiting.Add(waiting);
            }
            return true;
        }

        public void OnCommitted()
        {
            long committed = Log.PositionOf(Durability.Fsync);
            lock (_waiting)
            {
                foreach (Waiting waiting in _waiting.Where(w => w.Position <= committed))
                    waiting.Answer.TrySetResult(waiting.Offset);
                _waiting.RemoveAll(w => w.Position <= committed);
            }
        }

        public List<Stored> ReadJournal()
        {
            List<Stored> found = [];
            using var reader = new JournalReader(_journal, static () => { });
            reader.SeekToStart();
            while (found.Count == 0 || found[^1].NextOffset < _journal.ReadableOffset)
            {
                ReadResult result = reader.TryRead(1 << 20, out LogRun run);
                if (result == ReadResult.AtEnd)
                    break;
                if (result == ReadResult.Pending)
                {
                    Thread.Sleep(1);
                    continue;
                }
                Assert.Equal(ReadResult.Run, result);
                ReadOnlySpan<byte> left = run.Memory.Span;
                for (; BatchView.TryRead(left, out BatchView batch); left = left[batch.Length..])
                {
                    Assert.True(batch.VerifyHeader() && batch.VerifyPayload());
                    found.Add(Stored.Of(batch));
                }
                reader.Advance();
            }
            return found;
        }

        public void OnProgress(Journal journal) => Log.Copy.OnProgress();

        public void OnFailed(Journal journal) => Assert.Fail($"The journal failed: {journal.Failure?.Reason}");

        public void OnRested(Journal journal) => Log.Copy.TryReleaseMemory();

        public void OnDamaged(Journal journal, JournalDamage damage) => Assert.Fail($"{damage}");

        public async ValueTask DisposeAsync()
        {
            await Log.DisposeAsync();
            Forget();
        }

        private async Task GiveUpAsync()
        {
            await Log.Lost;
            Forget();
        }

        private void Forget()
        {
            // An append that was accepted before has been noted by now: both are under this lock.
            lock (_appendLock)
            {
                lock (_waiting)
                {
                    foreach (Waiting waiting in _waiting)
                        waiting.Answer.TrySetResult(null);
                    _waiting.Clear();
                }
            }
        }

        private sealed record Waiting(long Position, long Offset)
        {
            public TaskCompletionSource<long?> Answer { get; } =
                new(TaskCreationOptions.RunContinuationsAsynchronously);
        }
    }
}
