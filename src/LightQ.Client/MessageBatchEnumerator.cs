using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>Enumerates a batch's messages in place. Allocates nothing.</summary>
public ref struct MessageBatchEnumerator
{
    private readonly MessageFilter? _filter;
    private readonly ViewLife _life;
    private RecordEnumerator _records;
    private int _left;

    internal MessageBatchEnumerator(BatchView batch, int skip, int count, MessageFilter? filter, ViewLife life)
    {
        (_left, _filter, _life) = (count, filter, life);
        try
        {
            _records = batch.RecordsOf(life);
        }
        catch (ProtocolException e)
        {
            throw new LightQException(e.Code, e.Message, e);
        }
        // The header of a damaged batch may ask for billions.
        while (skip > 0 && MoveToRecord())
            skip--;
    }

    /// <summary>The current message; good as long as the batch is.</summary>
    /// <exception cref="InvalidOperationException">The batch is over.</exception>
    public readonly RecordView Current
    {
        get
        {
            _life.ThrowIfOver();
            return _records.Current;
        }
    }

    /// <summary>Goes to the next message.</summary>
    /// <returns>False after the last.</returns>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.CorruptData"/>: the records contradict the batch's header, although its checksum holds.
    /// </exception>
    /// <exception cref="InvalidOperationException">The batch is over.</exception>
    public bool MoveNext()
    {
        _life.ThrowIfOver();
        while (_left-- > 0 && MoveToRecord())
        {
            if (_filter is null || _filter.Matches(_records.Current))
                return true;
        }
        return false;
    }

    private bool MoveToRecord()
    {
        try
        {
            return _records.MoveNext();
        }
        catch (ProtocolException e)
        {
            throw new LightQException(e.Code, e.Message, e);
        }
    }
}
