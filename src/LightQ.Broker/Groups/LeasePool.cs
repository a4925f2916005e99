namespace LightQ.Broker.Groups;

/// <summary>Keeps the leases of a group that ended for its next deliveries. Not thread-safe.</summary>
internal sealed class LeasePool
{
    private const int MostSpare = 1024;
    private readonly Stack<Lease> _spare = new();

    /// <summary>A lease to begin with.</summary>
    public Lease Rent() => _spare.TryPop(out Lease? lease) ? lease : new Lease();

    /// <summary>Takes back a lease that no member holds.</summary>
    public void Return(Lease lease)
    {
        if (_spare.Count < MostSpare)
            _spare.Push(lease);
    }
}
