using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Client;

/// <summary>Enumerates a batch's messages in place. Allocates nothing.</summary>
public ref struct MessageBatchEnumerator
{
    private readonly MessageFilter? _filter;
    private RecordEnumerator _records;

    internal MessageBatchEnumerator(BatchView batch, int skip, MessageFilter? filter)
    {
        try
        {
            _records = batch.Records;
        }
        catch (ProtocolException e)
        {
            throw new LightQException(e.Code, e.Message, e);
        }
        for (; skip > 0; skip--)
            MoveNext();
        _filter = filter;
    }

    /// <summary>The message at hand; valid until the batch's end of life.</summary>
    public readonly RecordView Current => _records.Current;

    /// <summary>Goes to the next message.</summary>
    /// <returns>False behind the last.</returns>
    /// <exception cref="LightQException"><see cref="ErrorCode.CorruptData"/>: the records contradict the batch's header, although its checksum holds.</exception>
    public bool MoveNext()
    {
        try
        {
            while (_records.MoveNext())
            {
                if (_filter is null || _filter.Matches(_records.Current))
                    return true;
            }
            return false;
        }
        catch (ProtocolException e)
        {
            throw new LightQException(e.Code, e.Message, e);
        }
    }
}
