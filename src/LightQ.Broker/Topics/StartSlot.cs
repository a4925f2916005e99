namespace LightQ.Broker.Topics;

/// <summary>
/// Holds one of the places of a node's partitions that may be about to start the reading of another node: until that
/// one has read, or has read for a while, so that a long one keeps no short ones waiting. One thread at a time.
/// </summary>
internal sealed class StartSlot(SemaphoreSlim places, TimeProvider time) : IDisposable
{
    private bool _isHeld;
    private long _taken;

    /// <summary>Takes a place, if there is one, or keeps the one that it has.</summary>
    public bool TryTake()
    {
        if (!_isHeld && !places.Wait(0))
            return false;
        (_isHeld, _taken) = (true, time.GetTimestamp());
        return true;
    }

    /// <summary>Gives the place back when it was held for long enough.</summary>
    /// <returns>How long to wait, at most until the place is to be given back.</returns>
    public TimeSpan Within(TimeSpan longest, TimeSpan wait)
    {
        if (!_isHeld)
            return wait;
        TimeSpan left = longest - time.GetElapsedTime(_taken);
        if (left > TimeSpan.Zero)
            return left < wait ? left : wait;
        Release();
        return wait;
    }

    /// <summary>Gives the place back.</summary>
    public void Release()
    {
        if (_isHeld)
            places.Release();
        _isHeld = false;
    }

    /// <inheritdoc/>
    public void Dispose() => Release();
}
