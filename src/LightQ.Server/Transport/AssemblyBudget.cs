namespace LightQ.Server.Transport;

/// <summary>Memory for the long frames that are arriving, of all connections together. Thread-safe.</summary>
internal sealed class AssemblyBudget
{
    private long _used;

    /// <summary>Bytes set aside now.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Sets room aside, before there is memory.</summary>
    public bool TryTake(int bytes, long most)
    {
        if (Interlocked.Add(ref _used, bytes) <= most)
            return true;
        Give(bytes);
        return false;
    }

    /// <summary>Gives room back.</summary>
    public void Give(int bytes) => Interlocked.Add(ref _used, -bytes);
}
