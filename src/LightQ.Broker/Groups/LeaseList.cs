namespace LightQ.Broker.Groups;

/// <summary>The leases of a group in the order in which their locks run out; also keeps those that ended for the next ones. Not thread-safe.</summary>
/// <remarks>
/// A doubly linked list: locks of a group last equally long, so a new or renewed one belongs at the end, or near it when the group's members
/// asked for different times. A heap would keep what was settled until its time had come: nine million entries at 300,000 a second and 30 s.
/// </remarks>
internal sealed class LeaseList
{
    private const int MostSpare = 1024;
    private readonly Stack<Lease> _spare = new();
    private Lease? _last;

    /// <summary>The lease whose lock runs out first.</summary>
    public Lease? First { get; private set; }

    /// <summary>How many there are.</summary>
    public int Count { get; private set; }

    /// <summary>A lease to begin with; it is not in the list yet.</summary>
    public Lease Rent() => _spare.TryPop(out Lease? lease) ? lease : new Lease();

    /// <summary>Puts a lease where its deadline belongs.</summary>
    public void Add(Lease lease)
    {
        Lease? before = _last;
        while (before is not null && before.Deadline > lease.Deadline)
            before = before.Previous;
        Lease? behind = before is null ? First : before.Next;
        (lease.Previous, lease.Next) = (before, behind);
        if (before is null)
            First = lease;
        else
            before.Next = lease;
        if (behind is null)
            _last = lease;
        else
            behind.Previous = lease;
        Count++;
    }

    /// <summary>Takes a lease out, to be added again with another deadline.</summary>
    public void Remove(Lease lease)
    {
        if (lease.Previous is null)
            First = lease.Next;
        else
            lease.Previous.Next = lease.Next;
        if (lease.Next is null)
            _last = lease.Previous;
        else
            lease.Next.Previous = lease.Previous;
        (lease.Previous, lease.Next) = (null, null);
        Count--;
    }

    /// <summary>Keeps a lease that ended for the next delivery.</summary>
    public void Return(Lease lease)
    {
        if (_spare.Count < MostSpare)
            _spare.Push(lease);
    }
}
