using LightQ.Storage;

namespace LightQ.Broker.Logs;

/// <summary>Reads a journal: its newest part in place, older parts through its reader threads.</summary>
/// <remarks>A cursor's position is its offset here: the journal finds places by offset.</remarks>
internal sealed class JournalLogReader(JournalReader reader) : LogReader
{
    private long _lentEnd = -1;

    public override LogCursor Cursor => new(reader.NextOffset, reader.NextOffset);

    public override ReadResult TryRead(int maxBytes, out LentRun run, out LogGap gap)
    {
        ReadResult result = reader.TryRead(maxBytes, out Storage.LogRun found);
        run = default;
        gap = default;
        if (result == ReadResult.Gap)
        {
            gap = reader.Gap;
        }
        else if (result == ReadResult.Run)
        {
            _lentEnd = found.NextOffset;
            run = new LentRun(
                found.Memory,
                new LogCursor(found.FirstOffset, found.FirstOffset),
                new LogCursor(found.NextOffset, found.NextOffset)
            );
        }
        return result;
    }

    public override void MoveTo(in LogCursor cursor)
    {
        bool toItsEnd = _lentEnd == cursor.Offset;
        GiveBack(advance: toItsEnd);
        if (cursor.Offset != reader.NextOffset)
            reader.SeekToOffset(cursor.Offset);
    }

    public override void Park() => GiveBack(advance: true);

    public override void Dispose() => reader.Dispose();

    private void GiveBack(bool advance)
    {
        if (_lentEnd < 0)
            return;
        _lentEnd = -1;
        if (advance)
            reader.Advance();
        else
            reader.Release();
    }
}
