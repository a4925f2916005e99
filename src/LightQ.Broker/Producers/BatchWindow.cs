using LightQ.Protocol;
using LightQ.Storage.Files;

namespace LightQ.Broker.Producers;

/// <summary>
/// How many batches a named producer's stream has under way: never more than the log remembers of the producer, so that
/// whatever it may send again is recognised.
/// </summary>
/// <remarks>
/// A client must not send a batch with <see cref="ProtocolLimits.UnacknowledgedBatches"/> before it without an ack. But
/// one that does not know of that limit may have sent on while acks are on their way to it; if these are lost, it sends
/// more again than is remembered. So the client is asked, behind acks, to say that it has read them, and nothing more
/// is stored while as many batches as are remembered lie behind the last place that it is known to have read. One that
/// keeps to its window hardly ever waits for that. Guarded by its stream's lock.
/// </remarks>
internal sealed class BatchWindow
{
    /// <summary>
    /// After so many acknowledged batches the client is asked whether it has read that, one question at a time.
    /// </summary>
    private const int EchoShare = ProtocolLimits.UnacknowledgedBatches / 4;

    private int _received;
    private int _stored;
    private int _acknowledged;
    private int _asked;
    private uint _lastEcho;

    /// <summary>The most there may be.</summary>
    private static int Limit => Mutation.NoBatchWindow ? int.MaxValue : ProtocolLimits.UnacknowledgedBatches;

    /// <summary>How many batches may come before some are acknowledged.</summary>
    public int Room => Limit - _received;

    /// <summary>Whether nothing more is to be stored until the client has read acks.</summary>
    public bool IsFull => _stored >= Limit;

    /// <summary>Batches came.</summary>
    public void Receive(int batches) => _received += batches;

    /// <summary>One of them is stored, or was before.</summary>
    public void Store() => _stored++;

    /// <summary>Acks of so many batches go to the client now.</summary>
    /// <returns>What the client is to send back behind them; 0 for nothing.</returns>
    public uint Acknowledge(int batches)
    {
        _received -= batches;
        _acknowledged += batches;
        if (_asked != 0 || _acknowledged < EchoShare)
            return 0;
        _asked = _acknowledged;
        if (++_lastEcho == 0)
            _lastEcho = 1;
        return _lastEcho;
    }

    /// <summary>The client has sent something back.</summary>
    /// <returns>Whether there is another question to ask.</returns>
    public bool OnEcho(uint echo)
    {
        if (_asked == 0 || echo != _lastEcho)
            return false;
        _stored -= _asked;
        _acknowledged -= _asked;
        _asked = 0;
        return _acknowledged >= EchoShare;
    }
}
