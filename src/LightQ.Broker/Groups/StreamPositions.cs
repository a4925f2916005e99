using System.Buffers.Binary;
using System.Text;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Replication;

namespace LightQ.Broker.Groups;

/// <summary>
/// What is kept of the groups of a partition with replicas, for as long as this node owns it: in memory, and in the
/// partition's stream, whole in each snapshot and what changes in between.
/// </summary>
/// <remarks>
/// Thread-safe. What has been saved and is not stored yet may be found by the next owner, or not, so that
/// <see cref="TryGetKept"/> says the lower of both. An entry:
/// <code>
///  0          2   4            8        16
///  +----------+---+------------+--------+----------------------------------
///  |u16 length| 0 | u32 length | offset | the group's name, then its state
///  |of name   |   | of state   | or -1  |
///  +----------+---+------------+--------+----------------------------------
/// </code>
/// An offset of -1 says that the group is gone.
/// </remarks>
internal sealed class StreamPositions
{
    private const int HeadSize = 16;
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Position> _positions = new(StringComparer.Ordinal);
    private readonly HashSet<string> _forgotten = new(StringComparer.Ordinal);
    private HashSet<string> _changed = new(StringComparer.Ordinal);
    private HashSet<string> _saving = new(StringComparer.Ordinal);
    private TaskCompletionSource _progress = NewProgress();
    private Action _request = static () => { };
    private long _version;
    private long _saved;
    private long _stored;

    /// <summary>The groups.</summary>
    public IReadOnlyList<string> Names
    {
        get
        {
            lock (_lock)
                return [.. _positions.Keys];
        }
    }

    /// <summary>How many there are.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
                return _positions.Count;
        }
    }

    /// <summary>Whether the next owner may find a group that was removed.</summary>
    public bool IsForgetting
    {
        get
        {
            lock (_lock)
                return _forgotten.Count != 0;
        }
    }

    /// <summary>Says who stores what has changed; before the partition is served.</summary>
    public void StoreWith(Action request) => _request = request;

    /// <summary>Has what has changed stored.</summary>
    public void Request()
    {
        lock (_lock)
        {
            if (_changed.Count == 0)
                return;
        }
        _request();
    }

    /// <summary>Sets a position.</summary>
    public void Set(string name, long offset, byte[] state)
    {
        lock (_lock)
        {
            if (!_positions.TryGetValue(name, out Position? position))
                _positions[name] = position = new Position();
            (position.Offset, position.State) = (offset, state);
            NoteChange(name);
        }
    }

    /// <summary>
    /// Groups that stand behind the end of the log begin there: what they have settled further behind is lost.
    /// </summary>
    public void KeepBelow(long end)
    {
        lock (_lock)
        {
            foreach ((string name, Position position) in Behind(end))
            {
                (position.Offset, position.State) = (end, []);
                NoteChange(name);
            }
        }
    }

    /// <summary>Forgets a group.</summary>
    public void Remove(string name)
    {
        lock (_lock)
        {
            if (!_positions.Remove(name))
                return;
            _forgotten.Add(name);
            NoteChange(name);
        }
    }

    /// <summary>Gets a position.</summary>
    public bool TryGet(string name, out long offset, out ReadOnlyMemory<byte> state)
    {
        lock (_lock)
        {
            bool found = _positions.TryGetValue(name, out Position? position);
            (offset, state) = (position?.Offset ?? -1, position?.State ?? []);
            return found;
        }
    }

    /// <summary>Gets the lowest position that the next owner would find, whenever this one ends.</summary>
    public bool TryGetKept(string name, out long offset)
    {
        lock (_lock)
        {
            offset = _positions.TryGetValue(name, out Position? position) ? position.Kept : -1;
            return offset >= 0;
        }
    }

    /// <summary>All of them, for a snapshot.</summary>
    public byte[] Save()
    {
        lock (_lock)
        {
            foreach (Position position in _positions.Values)
                position.Encode();
            BeginSaving();
            byte[] bytes = new byte[_positions.Sum(p => SizeOf(p.Key, p.Value))];
            int at = 0;
            foreach ((string name, Position position) in _positions)
                at += Write(bytes.AsSpan(at), name, position);
            return bytes;
        }
    }

    /// <summary>What has changed since it was saved, in pieces that each count by themselves.</summary>
    /// <returns>Null when one does not fit: nothing counts as saved then.</returns>
    public IReadOnlyList<ReadOnlyMemory<byte>>? SaveChanges(int mostBytes)
    {
        lock (_lock)
        {
            var pieces = new List<ReadOnlyMemory<byte>>();
            var piece = new List<byte>();
            foreach (string name in _changed)
            {
                Position? position = _positions.GetValueOrDefault(name);
                byte[] entry = new byte[SizeOf(name, position)];
                if (entry.Length > mostBytes)
                    return null;
                Write(entry, name, position);
                if (piece.Count + entry.Length > mostBytes)
                {
                    pieces.Add(piece.ToArray());
                    piece.Clear();
                }
                piece.AddRange(entry);
            }
            if (piece.Count != 0)
                pieces.Add(piece.ToArray());
            foreach (string name in _changed)
                _positions.GetValueOrDefault(name)?.Encode();
            BeginSaving();
            return pieces;
        }
    }

    /// <summary>What was saved last is in the stream.</summary>
    public void OnStored()
    {
        TaskCompletionSource progress;
        lock (_lock)
        {
            foreach (string name in _saving)
            {
                _positions.GetValueOrDefault(name)?.NoteStored();
                // A removal that came after it was saved is stored once more.
                if (!_changed.Contains(name))
                    _forgotten.Remove(name);
            }
            _saving.Clear();
            _stored = _saved;
            (progress, _progress) = (_progress, NewProgress());
        }
        progress.TrySetResult();
    }

    /// <summary>Takes in what <see cref="Save"/> gave, in place of everything else.</summary>
    public void Load(ReadOnlySpan<byte> saved)
    {
        lock (_lock)
        {
            _positions.Clear();
            Read(saved);
        }
    }

    /// <summary>Takes in a piece of what <see cref="SaveChanges"/> gave.</summary>
    public void Apply(ReadOnlySpan<byte> changed)
    {
        lock (_lock)
            Read(changed);
    }

    /// <summary>Waits until everything that was set is in the stream.</summary>
    /// <param name="isOwned">Whether the partition is owned: otherwise there is nothing to wait for.</param>
    /// <param name="patience">How long at most.</param>
    /// <returns>Whether it is.</returns>
    public bool TryFlush(Func<bool> isOwned, TimeSpan patience)
    {
        long wanted = Volatile.Read(ref _version),
            until = Environment.TickCount64 + (long)patience.TotalMilliseconds;
        Request();
        while (true)
        {
            Task progress;
            lock (_lock)
            {
                if (_stored >= wanted)
                    return true;
                progress = _progress.Task;
            }
            if (!isOwned() || Environment.TickCount64 > until)
                return false;
            progress.Wait(Poll);
        }
    }

    private static TaskCompletionSource NewProgress() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private static int SizeOf(string name, Position? position) =>
        HeadSize + Encoding.UTF8.GetByteCount(name) + (position?.State.Length ?? 0);

    private static int Write(Span<byte> destination, string name, Position? position)
    {
        int length = Encoding.UTF8.GetBytes(name, destination[HeadSize..]);
        byte[] state = position?.State ?? [];
        BinaryPrimitives.WriteUInt16LittleEndian(destination, checked((ushort)length));
        BinaryPrimitives.WriteInt32LittleEndian(destination[4..], state.Length);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], position?.Offset ?? -1);
        state.CopyTo(destination[(HeadSize + length)..]);
        return HeadSize + length + state.Length;
    }

    /// <summary>Those of groups; what a redrive notes is an offset of the dead-letter topic.</summary>
    private KeyValuePair<string, Position>[] Behind(long end) =>
        [.. _positions.Where(p => p.Value.Offset > end && !Redrive.IsPosition(p.Key))];

    private void NoteChange(string name)
    {
        _changed.Add(name);
        _version++;
    }

    private void BeginSaving()
    {
        // One is saved at a time, so what was saved before is stored, or never will be.
        (_saving, _changed) = (_changed, _saving);
        _changed.Clear();
        _saved = _version;
    }

    private void Read(ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            int name = bytes.Length < HeadSize ? -1 : BinaryPrimitives.ReadUInt16LittleEndian(bytes),
                state = name < 0 ? -1 : BinaryPrimitives.ReadInt32LittleEndian(bytes[4..]);
            if (state < 0 || bytes.Length - HeadSize < (long)name + state)
                throw new ReplicationException("Positions of groups contradict their length.");
            long offset = BinaryPrimitives.ReadInt64LittleEndian(bytes[8..]);
            string group = Encoding.UTF8.GetString(bytes.Slice(HeadSize, name));
            if (offset < 0)
                _positions.Remove(group);
            else
                _positions[group] = new Position(offset, bytes.Slice(HeadSize + name, state).ToArray());
            bytes = bytes[(HeadSize + name + state)..];
        }
    }

    private sealed class Position
    {
        private long _encoded = -1;

        public Position() { }

        /// <summary>One that is in the stream.</summary>
        public Position(long offset, byte[] state) => (Offset, State, Kept, _encoded) = (offset, state, offset, offset);

        public long Offset { get; set; }

        public byte[] State { get; set; } = [];

        /// <summary>The lowest that the next owner may find; -1 when it may find none.</summary>
        public long Kept { get; private set; } = -1;

        /// <summary>It is about to be stored: from now on the next owner may find it.</summary>
        public void Encode()
        {
            _encoded = Offset;
            Kept = Math.Min(Kept, Offset);
        }

        public void NoteStored() => Kept = _encoded;
    }
}
