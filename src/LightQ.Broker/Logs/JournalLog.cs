using LightQ.Protocol.Frames;
using LightQ.Storage;
using LightQ.Storage.Backups;

namespace LightQ.Broker.Logs;

/// <summary>A durable topic's log: a journal.</summary>
internal sealed class JournalLog(Journal journal) : ITopicLog
{
    private long _endPosition = journal.DurablePosition;

    JournalLog? ITopicLog.Local => this;

    /// <summary>The journal.</summary>
    internal Journal Journal => journal;

    public long StartOffset => journal.StartOffset;

    public long EndOffset => journal.EndOffset;

    public long DurableOffset => journal.DurableOffset;

    public long ReadableOffset => journal.ReadableOffset;

    public long EndPosition => _endPosition;

    public ulong Incarnation => journal.Incarnation;

    public uint Epoch => journal.LeaderEpoch;

    public long StoredBytes => journal.StoredBytes;

    public Durability MaxDurability => Durability.Fsync;

    public string? Failure => journal.Failure?.Reason;

    public bool IsDiskFull => journal.DiskFull;

    /// <summary>What must be free on the disk for the next file, in bytes.</summary>
    internal long WantedBytes => journal.WantedBytes;

    public IEnumerable<JournalDamage> Damage => journal.Damage;

    public long EndOfEpoch(uint epoch) => journal.EndOfEpoch(epoch);

    public AppendResult TryAppend(ReadOnlySpan<byte> batch, long appendTime, out long baseOffset, uint user = 0)
    {
        AppendResult result = journal.TryAppend(batch, out baseOffset, out long position, user);
        if (result == AppendResult.Appended)
            _endPosition = position;
        return result;
    }

    public void Flush() => journal.Signal();

    public long PositionOf(Durability durability) =>
        durability switch
        {
            Durability.Fsync => journal.DurablePosition,
            Durability.Written => journal.WrittenPosition,
            _ => long.MaxValue,
        };

    public void NotifyWritten() => journal.NotifyWritten = true;

    public LogReader OpenReader(StartKind start, long value, bool holds, Action ready)
    {
        var reader = new JournalReader(journal, ready);
        switch (start)
        {
            case StartKind.Latest:
                reader.SeekToEnd();
                break;
            case StartKind.Offset:
                reader.SeekToOffset(Math.Clamp(value, journal.StartOffset, journal.ReadableOffset));
                break;
            case StartKind.Timestamp:
                reader.SeekToTime(value);
                break;
            default:
                reader.SeekToStart();
                break;
        }
        return new JournalLogReader(reader);
    }

    public long Truncate(long beforeOffset)
    {
        journal.TruncateBefore(
            beforeOffset < 0 ? journal.ReadableOffset : Math.Min(beforeOffset, journal.ReadableOffset)
        );
        return journal.StartOffset;
    }

    public void SetRetention(long bytes, TimeSpan age) =>
        journal.SetRetention(bytes == 0 ? null : bytes, age == TimeSpan.Zero ? null : age);

    public void RequestLook() => journal.RequestLook();

    public JournalSnapshot? Capture() => journal.Capture();

    public async ValueTask DeleteAsync() => await journal.DeleteAsync().ConfigureAwait(false);

    public async ValueTask DisposeAsync() => await journal.CloseAsync().ConfigureAwait(false);
}
