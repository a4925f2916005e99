using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using LightQ.Broker.Users;
using LightQ.Storage;

namespace LightQ.Broker.Deduplication;

/// <summary>
/// The message ids that one partition remembers: for a time, and at most so many, of which the oldest go first. Guarded
/// by the partition's append lock.
/// </summary>
/// <remarks>
/// <para>
/// Of an id 128 bits are kept, a hash under a key that is made anew with every process: so no client can find two ids
/// with equal hashes, and no message is dropped because of another's id.
/// </para>
/// <para>
/// Each user has ids of its own, unless they are shared. What nobody in particular has published, which is all that was
/// published without a login, counts for every user. When there are as many ids as there may be, whoever has most of
/// them loses its oldest: so a user that publishes many makes the broker forget none of those that publish few.
/// </para>
/// </remarks>
internal sealed class DedupWindow
{
    /// <summary>
    /// At most so many are forgotten by one call: an append behind a long rest does not wait for all.
    /// </summary>
    private const int ForgottenAtOnce = 16;

    private static readonly UInt128 Secret = MemoryMarshal.Read<UInt128>(
        RandomNumberGenerator.GetBytes(Unsafe.SizeOf<UInt128>())
    );
    private readonly long _micros;
    private readonly IdTable _common;
    private readonly Dictionary<uint, IdTable> _ofUsers = [];
    private (uint User, IdTable? Table) _last; // Whose was looked for last.
    private int _count;
    private (UInt128 Key, uint User, bool IsSet) _sought;

    /// <param name="window">How long an id is remembered.</param>
    /// <param name="maxIds">How many are, at most.</param>
    /// <param name="isShared">Whether an id is the same whoever publishes it.</param>
    public DedupWindow(TimeSpan window, int maxIds, bool isShared = false)
    {
        (Window, MaxIds, IsShared, _micros) = (window, maxIds, isShared, (long)window.TotalMicroseconds);
        _common = new IdTable(_micros, maxIds);
    }

    /// <summary>How long an id is remembered.</summary>
    public TimeSpan Window { get; }

    /// <summary>How many are, at most.</summary>
    public int MaxIds { get; }

    /// <summary>Whether an id is the same whoever publishes it.</summary>
    public bool IsShared { get; }

    /// <summary>How many are held. Any thread.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Bytes that it takes, without the object itself: for tests.</summary>
    internal long Bytes => Tables.Sum(t => t.Bytes);

    private IEnumerable<IdTable> Tables => _ofUsers.Values.Prepend(_common);

    /// <summary>Looks for an id; the next <see cref="Add(long, long)"/> is of this one.</summary>
    /// <param name="id">The id, in UTF-8.</param>
    /// <param name="now">The time of the append, unix microseconds; never less than before.</param>
    /// <param name="offset">Where the message with this id is.</param>
    /// <param name="user">The <see cref="UserNumber"/> of whoever publishes it.</param>
    public bool TryFind(ReadOnlySpan<byte> id, long now, out long offset, uint user = UserNumber.None)
    {
        UInt128 key = KeyOf(id);
        _sought = (key, user, true);
        Forget(_common, now, ForgottenAtOnce);
        if (Find(user) is { } own && own != _common)
        {
            Forget(own, now, ForgottenAtOnce);
            if (own.TryFind(key, now, out offset))
                return true;
        }
        return _common.TryFind(key, now, out offset);
    }

    /// <summary>Remembers the id that was sought last.</summary>
    /// <param name="offset">Where its message is.</param>
    /// <param name="time">When it was appended, unix microseconds; never less than before.</param>
    /// <returns>Whether another one was forgotten for it before its time was over.</returns>
    public bool Add(long offset, long time)
    {
        if (!_sought.IsSet)
            throw new InvalidOperationException("No id was sought.");
        _sought.IsSet = false;
        return Put(new RememberedId(_sought.Key, offset, time, _sought.User));
    }

    /// <summary>Remembers what another log's walk, or another window, has of an id, unless this one has it.</summary>
    public void Add(in RememberedId id)
    {
        if (Find(id.User)?.TryFind(id.Key, id.Time, out _) != true && !_common.TryFind(id.Key, id.Time, out _))
            Put(id);
    }

    /// <summary>What is remembered, oldest first.</summary>
    public IEnumerable<RememberedId> Ids() => Tables.SelectMany(t => t.Ids()).OrderBy(id => id.Time);

    /// <summary>Forgets ids whose time is over.</summary>
    /// <param name="now">Now, unix microseconds.</param>
    /// <param name="most">How many at most.</param>
    /// <returns>When the next one's is; null when none is remembered.</returns>
    public long? Forget(long now, int most)
    {
        long? next = null;
        foreach (IdTable table in Tables)
        {
            most -= Forget(table, now, most);
            if (table.ForgetsAt is { } due && (next is null || due < next))
                next = due;
        }
        foreach (uint user in _ofUsers.Where(t => t.Value.Count == 0).Select(t => t.Key).ToArray())
            _ofUsers.Remove(user);
        _last = default;
        return next < now ? now : next;
    }

    /// <summary>What is remembered of an id instead of the id.</summary>
    public static UInt128 KeyOf(ReadOnlySpan<byte> id) => SipHash.Compute128(Secret, id);

    private int Forget(IdTable table, long now, int most)
    {
        int forgotten = 0;
        for (; forgotten < most && table.IsOldestOver(now); forgotten++)
            ForgetFirst(table);
        return forgotten;
    }

    private void ForgetFirst(IdTable table)
    {
        table.ForgetFirst();
        Volatile.Write(ref _count, _count - 1);
    }

    /// <summary>The ids of a user; null when it has none.</summary>
    private IdTable? Find(uint user)
    {
        if (user == UserNumber.None || IsShared)
            return _common;
        if (_last.User != user)
            _last = (user, _ofUsers.GetValueOrDefault(user));
        return _last.Table;
    }

    private bool Put(in RememberedId id)
    {
        IdTable table = Find(id.User) ?? Make(id.User);
        bool forgets = false;
        while (_count >= MaxIds)
        {
            IdTable giving = (long)table.Count * (_ofUsers.Count + 1) >= _count ? table : Largest();
            forgets |= !giving.IsOldestOver(id.Time);
            ForgetFirst(giving);
        }
        table.Add(id);
        Volatile.Write(ref _count, _count + 1);
        return forgets;
    }

    private IdTable Make(uint user)
    {
        var table = new IdTable(_micros, MaxIds);
        _ofUsers.Add(user, table);
        _last = (user, table);
        return table;
    }

    private IdTable Largest()
    {
        IdTable largest = _common;
        foreach (IdTable table in _ofUsers.Values)
        {
            if (table.Count > largest.Count)
                largest = table;
        }
        return largest;
    }
}
