using System.Collections.Concurrent;
using System.Globalization;
using System.Runtime.CompilerServices;
using LightQ.Storage.Files;

namespace LightQ.Storage.Spilling;

/// <summary>
/// What has no room in memory goes to temporary files: their directory, their bounds, and the one thread that touches
/// them.
/// </summary>
/// <remarks>
/// Nothing in the directory outlives the store: what an unclean end has left is removed when the next one is made.
/// </remarks>
public sealed class SpillStore : IDisposable
{
    private readonly object _lock = new();
    private readonly Queue<SpillQueue> _due = new();
    private readonly string _directory;
    private readonly IFileSystem _files;
    private readonly bool _ownThread;
    private Thread? _thread;
    private readonly ConcurrentDictionary<uint, StrongBox<long>> _byOwner = new();
    private long _bytes;
    private long _nextFile;
    private bool _directoryMade;
    private bool _stopping;

    /// <summary>Removes what an earlier store has left. The thread starts with the first run.</summary>
    /// <param name="directory">The directory, for this store alone; made when it is needed.</param>
    /// <param name="environment">Gives the file system.</param>
    /// <param name="options">The bounds.</param>
    public SpillStore(string directory, JournalEnvironment environment, SpillOptions options)
        : this(directory, environment.Files, options, ownThread: true) { }

    internal SpillStore(string directory, IFileSystem files, SpillOptions options, bool ownThread)
    {
        _directory = directory;
        _files = files;
        _ownThread = ownThread;
        Options = options;
        Memory = new RunMemory(options.MaxMemoryBytes);
        Clear();
    }

    /// <summary>The bounds.</summary>
    public SpillOptions Options { get; }

    /// <summary>Memory for what is not on the disk.</summary>
    public RunMemory Memory { get; }

    /// <summary>Bytes of all queues, in memory and on the disk.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Opens an empty queue; it costs nothing until it is used.</summary>
    /// <param name="ready">Called on the store's thread when a run that was pending can be taken.</param>
    /// <param name="failed">Called on the store's thread, once, when the disk fails: the queue has ended.</param>
    /// <param name="owner">In whose share of all bytes it counts.</param>
    public SpillQueue Open(Action ready, Action<Exception> failed, uint owner = 0) => new(this, ready, failed, owner);

    /// <summary>Ends the thread and removes every file. Queues must be disposed before.</summary>
    public void Dispose()
    {
        lock (_lock)
        {
            _stopping = true;
            Monitor.Pulse(_lock);
        }
        _thread?.Join();
        Clear();
    }

    /// <returns>Null when there is room, which is taken; else what is full.</returns>
    internal SpillResult? TryReserve(uint owner, long bytes)
    {
        long all = Interlocked.Add(ref _bytes, bytes),
            own = Interlocked.Add(ref Of(owner), bytes);
        SpillResult? full =
            all > Options.MaxBytes ? SpillResult.StoreFull
            : Options.IsShareUsedUp(owner, own - bytes, all - bytes, bytes) ? SpillResult.ShareFull
            : null;
        if (full is not null)
            Release(owner, bytes);
        return full;
    }

    internal void Release(uint owner, long bytes)
    {
        Interlocked.Add(ref Of(owner), -bytes);
        Interlocked.Add(ref _bytes, -bytes);
    }

    /// <summary>Gives a queue its turn on the store's thread.</summary>
    internal void Schedule(SpillQueue queue)
    {
        lock (_lock)
        {
            _due.Enqueue(queue);
            if (_thread is null && _ownThread)
            {
                _thread = new Thread(Run) { Name = "lightq-spill", IsBackground = true };
                _thread.Start();
            }
            Monitor.Pulse(_lock);
        }
    }

    /// <summary>Gives one queue its turn, on the caller's thread.</summary>
    /// <returns>False when none is due.</returns>
    internal bool RunOnce()
    {
        SpillQueue? queue;
        lock (_lock)
        {
            if (!_due.TryDequeue(out queue))
                return false;
        }
        if (queue.Work())
            Schedule(queue); // Behind the others.
        return true;
    }

    internal SpillFile CreateFile()
    {
        if (!_directoryMade)
            _files.MakeDirectory(_directory);
        _directoryMade = true;
        string path = Path.Combine(_directory, (_nextFile++).ToString("x16", CultureInfo.InvariantCulture));
        if (_files.FreeBytes(_directory) < Options.MinFreeBytes)
            throw StorageIOException.DiskFull(path);
        return new SpillFile(_files.Open(path, OpenMode.Create), path);
    }

    internal void Remove(SpillFile file)
    {
        file.File.Dispose();
        TryRemove(() => _files.Delete(file.Path));
    }

    private ref long Of(uint owner) => ref _byOwner.GetOrAdd(owner, static _ => new StrongBox<long>()).Value;

    private void Clear() =>
        TryRemove(() =>
        {
            foreach (string name in _files.List(_directory))
                _files.Delete(Path.Combine(_directory, name));
            _files.DeleteDirectory(_directory);
        });

    private static void TryRemove(Action remove)
    {
        try
        {
            remove();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A disk that cannot even delete takes nothing new either. The next start removes what is left.
        }
    }

    private void Run()
    {
        while (true)
        {
            lock (_lock)
            {
                while (_due.Count == 0)
                {
                    if (_stopping)
                        return;
                    Monitor.Wait(_lock);
                }
            }
            RunOnce();
        }
    }
}
