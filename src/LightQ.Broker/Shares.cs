using LightQ.Storage.Files;

namespace LightQ.Broker;

/// <summary>
/// Counts what one limit allows to all together, and holds each source to its share: the one place that knows how a
/// limit is shared. A source is whatever gets a share of its own: an address, a user. Thread-safe.
/// </summary>
/// <remarks>
/// A source may have as much as it leaves to others (docs/design/transport.md, Shares). Alone it gets
/// <see cref="BrokerOptions.MaxSharePercent"/> of the limit, and one that comes later gets the same part of what is
/// left. The last eighth is for sources that have nothing yet. So nobody takes all, nor do a few together.
/// </remarks>
/// <param name="percent">What a source alone may have of the limit, from 1 to 100; asked for at each use.</param>
internal sealed class Shares(Func<int> percent)
{
    /// <summary>What a source alone may have where nothing else is set, in percent.</summary>
    public const int UsualPercent = 50;

    /// <summary>One in so many is kept for sources that have nothing yet.</summary>
    private const int KeptPart = 8;

    private readonly Lock _lock = new();
    private readonly Dictionary<object, long> _bySource = [];
    private long _taken;

    /// <summary>What all sources have.</summary>
    public long Taken => Volatile.Read(ref _taken);

    /// <summary>The rule: whether a source may have more. What is its first needs nothing but room.</summary>
    /// <param name="own">What it has.</param>
    /// <param name="taken">What all have, this source included.</param>
    /// <param name="most">The limit.</param>
    /// <param name="percent">What it may have alone, in percent.</param>
    /// <param name="amount">What it wants.</param>
    public static Admission Judge(long own, long taken, long most, int percent, long amount = 1)
    {
        if (taken + amount > most)
            return Admission.TooMany;
        if (own == 0 || percent == 100 || Mutation.NoShares)
            return Admission.Admitted;
        bool leavesRoom = taken + amount <= most - (most / KeptPart);
        return leavesRoom && (Int128)(own + amount) * (100 - percent) <= (Int128)(most - taken) * percent
            ? Admission.Admitted
            : Admission.TooManyOfSource;
    }

    /// <summary>What a source has.</summary>
    public long Of(object source)
    {
        lock (_lock)
            return _bySource.GetValueOrDefault(source);
    }

    /// <summary>Takes something, unless the limit or the source's share is met.</summary>
    /// <param name="source">Who takes it.</param>
    /// <param name="most">The limit.</param>
    /// <param name="amount">How much.</param>
    /// <param name="mostOfSource">What the source may have; 0 for its share.</param>
    public Admission TryTake(object source, long most, long amount = 1, long mostOfSource = 0)
    {
        int part = percent();
        lock (_lock)
        {
            long own = _bySource.GetValueOrDefault(source);
            Admission admission =
                mostOfSource == 0 ? Judge(own, _taken, most, part, amount)
                : _taken + amount > most ? Admission.TooMany
                : own + amount > mostOfSource ? Admission.TooManyOfSource
                : Admission.Admitted;
            if (admission != Admission.Admitted)
                return admission;
            _taken += amount;
            _bySource[source] = own + amount;
            return Admission.Admitted;
        }
    }

    /// <summary>
    /// Counts what was taken already for another source too, such as the user who has logged in from an address.
    /// </summary>
    /// <returns>False when that source has its share.</returns>
    public bool TryJoin(object source, long most, long amount = 1)
    {
        int part = percent();
        lock (_lock)
        {
            long own = _bySource.GetValueOrDefault(source);
            // The limit may be less by now than what was taken, which is no matter of shares.
            if (Judge(own, _taken - amount, most, part, amount) == Admission.TooManyOfSource)
                return false;
            _bySource[source] = own + amount;
            return true;
        }
    }

    /// <summary>Gives back what was taken.</summary>
    /// <param name="source">Who took it.</param>
    /// <param name="joined">For whom it was counted too; null for nobody.</param>
    /// <param name="amount">How much.</param>
    public void Give(object source, object? joined = null, long amount = 1)
    {
        lock (_lock)
        {
            _taken -= amount;
            Leave(source, amount);
            if (joined is not null)
                Leave(joined, amount);
        }
    }

    private void Leave(object source, long amount)
    {
        long left = _bySource[source] - amount;
        if (left == 0)
            _bySource.Remove(source);
        else
            _bySource[source] = left;
    }
}
