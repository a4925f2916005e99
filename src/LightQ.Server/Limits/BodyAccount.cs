using System.Net;
using LightQ.Broker;
using LightQ.Storage.Files;

namespace LightQ.Server.Limits;

/// <summary>
/// What one call, or one connection, has in memory of bodies under way, within the shares of its address and its user
/// of what all planes have together (<see cref="DataPlaneOptions.MaxAssemblyBytes"/>). Thread-safe.
/// </summary>
/// <remarks>
/// The first bytes of each are not counted: the limits of calls and connections bound them, and most bodies are no
/// longer.
/// </remarks>
/// <param name="limits">The limits.</param>
/// <param name="remote">Where it comes from.</param>
/// <param name="free">How many bytes are not counted.</param>
internal sealed class BodyAccount(ServerLimits limits, IPAddress? remote, int free = BodyAccount.Free)
{
    /// <summary>What a call has without being counted, in bytes.</summary>
    public const int Free = 4096;

    private readonly Lock _lock = new();
    private string? _user;
    private long _bytes;
    private long _counted;

    /// <summary>Who has logged in, if that is known; what is taken from then on counts for that user too.</summary>
    public string? User { get; set; }

    /// <summary>Sets how much it has.</summary>
    /// <exception cref="BrokerException">
    /// There is no room for more: <see cref="ErrorCode.ResourceExhausted"/>. It has as much as before.
    /// </exception>
    public void Set(long bytes)
    {
        if (!TrySet(bytes, out string? found))
            throw Exhausted(found!);
    }

    /// <summary>It has so much more, or less, than before.</summary>
    /// <exception cref="BrokerException">As of <see cref="Set"/>.</exception>
    public void Add(long bytes)
    {
        lock (_lock)
            Set(_bytes + bytes);
    }

    /// <summary>Sets how much it has.</summary>
    /// <param name="bytes">How much.</param>
    /// <param name="found">Why it may not, as a sentence without its point.</param>
    /// <returns>False when there is no room for more; it has as much as before then.</returns>
    public bool TrySet(long bytes, out string? found)
    {
        lock (_lock)
        {
            bool isSet = TryCount(bytes, out found);
            if (isSet)
                _bytes = bytes;
            return isSet;
        }
    }

    /// <summary>Gives everything back.</summary>
    public void Clear() => TrySet(0, out _);

    private BrokerException Exhausted(string found) =>
        limits.DataPlaneRefusals.Exhausted(
            nameof(DataPlaneOptions.MaxAssemblyBytes),
            limits.DataPlane.MaxAssemblyBytes,
            found
        );

    private bool TryCount(long bytes, out string? found)
    {
        found = null;
        long counted = Math.Max(0, bytes - free),
            more = counted - _counted;
        if (more == 0 || Mutation.NoBodyCount)
            return true;
        IPAddress address = PeerNetwork.Of(remote);
        if (more < 0)
        {
            limits.Bodies.Give(address, _user, -more);
            _counted = counted;
            return true;
        }
        long most = limits.DataPlane.MaxAssemblyBytes;
        // The user joins with all or nothing: what is given back later is given back for both.
        if (_counted == 0)
            _user = User;
        Admission admission = limits.Bodies.TryTake(address, most, more);
        if (admission == Admission.Admitted && _user is not null && !limits.Bodies.TryJoin(_user, most, more))
        {
            limits.Bodies.Give(address, amount: more);
            admission = Admission.TooManyOfSource;
        }
        if (admission == Admission.Admitted)
        {
            _counted = counted;
            return true;
        }
        found =
            admission == Admission.TooMany
                ? "There is no room for another long body beside those that are under way"
                : $"{_user ?? address.ToString()} has its share of the memory for bodies under way";
        return false;
    }
}
