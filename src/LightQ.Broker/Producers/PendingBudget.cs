using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using LightQ.Broker.Users;

namespace LightQ.Broker.Producers;

/// <summary>
/// Bytes of batches that wait in memory for room in their logs, of all producer streams together; each user has a
/// share. Thread-safe.
/// </summary>
internal sealed class PendingBudget(Func<BrokerOptions> options, LimitRefusals refusals)
{
    private const string Setting = nameof(BrokerOptions.MaxPendingBytes);

    private readonly ConcurrentDictionary<uint, StrongBox<long>> _byUser = new();
    private long _used;

    /// <summary>Bytes that wait now.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Takes room before memory is.</summary>
    /// <param name="user">The <see cref="UserNumber"/> of whoever takes it.</param>
    /// <param name="bytes">How much.</param>
    /// <param name="reason">Why there is none.</param>
    public bool TryTake(uint user, int bytes, out string reason)
    {
        long most = options().MaxPendingBytes;
        reason = "";
        long all = Interlocked.Add(ref _used, bytes),
            own = Interlocked.Add(ref Of(user), bytes);
        if (all <= most && !UserShare.IsUsedUp(user, own - bytes, all - bytes, most, options().MaxSharePercent, bytes))
            return true;
        Give(user, bytes);
        reason = refusals.Refuse(
            Setting,
            most,
            all > most
                ? "The topic is full, and the broker keeps no more batches waiting for room"
                : "The topic is full. " + UserShare.Describe(own - bytes, all - bytes, "bytes that wait for room")
        );
        return false;
    }

    /// <summary>Gives room back.</summary>
    public void Give(uint user, int bytes)
    {
        Interlocked.Add(ref Of(user), -bytes);
        Interlocked.Add(ref _used, -bytes);
    }

    private ref long Of(uint user) => ref _byUser.GetOrAdd(user, static _ => new StrongBox<long>()).Value;
}
