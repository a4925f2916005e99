namespace LightQ.Client.Connections;

/// <summary>
/// Judges what brokers say of the leader of one stream's partition: an older epoch than the newest seen is not
/// followed. Guarded by the stream's gate.
/// </summary>
internal sealed class LeaderHints
{
    /// <summary>
    /// So many old epochs in a row are the truth: the topic was made anew, and its epochs begin again.
    /// </summary>
    private const int StaleUntilBelieved = 8;

    private uint _newest;
    private int _turn;
    private int _stale;

    /// <summary>The newest epoch that was seen; 0 without any. May be read without the gate.</summary>
    public uint Newest => Volatile.Read(ref _newest);

    /// <summary>The stream is open: its broker leads the partition, in this epoch.</summary>
    public void OnOpened(uint epoch) => (_newest, _turn, _stale) = (epoch, 0, 0);

    /// <param name="epoch">The epoch that the broker knows; 0 for none.</param>
    /// <param name="address">The leader's address; empty when the broker does not know it.</param>
    public LeaderHint Take(uint epoch, string address)
    {
        _turn++;
        bool isStale = epoch != 0 && epoch < _newest && ++_stale < StaleUntilBelieved;
        // A leader that nobody has named before is asked at once, however many have been asked in vain.
        if (epoch > _newest)
            _turn = 1;
        if (epoch != 0 && !isStale)
            (_newest, _stale) = (epoch, 0);
        return new LeaderHint(isStale || !HostPort.TryParse(address, out _, out _) ? null : address, _newest, _turn);
    }
}
