using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using LightQ.Broker;

namespace LightQ.Server.Security;

/// <summary>The tokens of logins: in memory, each for 15 minutes, and so many of a user. Thread-safe.</summary>
/// <remarks>
/// What has ended goes when the next token is given out, in the order in which it was: all live equally long, so those
/// in force are never searched.
/// </remarks>
/// <param name="mostPerUser">How many a user may have, now.</param>
/// <param name="refusals">Counts those that were rejected.</param>
/// <param name="time">The clock that they end by.</param>
internal sealed class LoginTokens(Func<int> mostPerUser, LimitRefusals refusals, TimeProvider time)
{
    private static readonly TimeSpan Life = TimeSpan.FromMinutes(15);

    private readonly ConcurrentDictionary<string, Login> _byHash = new(StringComparer.Ordinal);
    private readonly Lock _changing = new();
    private readonly LinkedList<Login> _byAge = new();
    private readonly Dictionary<string, HashSet<Login>> _byUser = new(StringComparer.Ordinal);

    /// <summary>How many are kept.</summary>
    public int Count => _byHash.Count;

    /// <summary>Gives a token its time.</summary>
    /// <param name="hash">The token's hash.</param>
    /// <param name="principal">The user that logged in.</param>
    /// <param name="isCurrent">Whether a login is still valid; a token whose login is not makes room.</param>
    /// <returns>When it ends.</returns>
    /// <exception cref="BrokerException">The user has as many as it may have.</exception>
    public DateTimeOffset Add(string hash, Principal principal, Func<Principal, bool> isCurrent)
    {
        string user = principal.ToString();
        int most = mostPerUser();
        lock (_changing)
        {
            while (_byAge.First is { Value: { } oldest } && HasEnded(oldest))
                Forget(oldest);
            if (CountOf(user) >= most)
            {
                foreach (Login login in _byUser[user].Where(l => !isCurrent(l.Principal)).ToArray())
                    Forget(login);
            }
            if (CountOf(user) >= most)
            {
                string reason = refusals.Refuse(
                    nameof(LightQServerOptions.MaxLoginsPerUser),
                    most,
                    $"{principal.Name} has as many logins in force"
                );
                throw new BrokerException(
                    ErrorCode.ResourceExhausted,
                    $"{reason} One ends by itself after {Life.TotalMinutes} minutes, or by Logout."
                );
            }
            var added = new Login(hash, principal, time.GetUtcNow() + Life, time.GetTimestamp());
            _byHash[hash] = added;
            _byAge.AddLast(added.Node);
            if (!_byUser.TryGetValue(user, out HashSet<Login>? logins))
                _byUser[user] = logins = [];
            logins.Add(added);
            return added.Expires;
        }
    }

    /// <summary>Finds the principal that logged in.</summary>
    /// <param name="hash">The token's hash.</param>
    /// <param name="principal">The principal; null when the token has ended.</param>
    /// <returns>False when there is no such token.</returns>
    public bool TryGet(string hash, out Principal? principal)
    {
        bool isKnown = _byHash.TryGetValue(hash, out Login? login);
        principal = isKnown && !HasEnded(login!) ? login!.Principal : null;
        return isKnown;
    }

    /// <summary>Ends a token.</summary>
    /// <returns>False when there is no such token.</returns>
    public bool TryRemove(string hash, [NotNullWhen(true)] out Principal? principal)
    {
        lock (_changing)
        {
            bool isKnown = _byHash.TryGetValue(hash, out Login? login);
            principal = login?.Principal;
            if (isKnown)
                Forget(login!);
            return isKnown;
        }
    }

    /// <summary>Counted from its login, whatever becomes of the clock.</summary>
    private bool HasEnded(Login login) => time.GetElapsedTime(login.Made) >= Life;

    private int CountOf(string user) => _byUser.TryGetValue(user, out HashSet<Login>? logins) ? logins.Count : 0;

    private void Forget(Login login)
    {
        _byHash.TryRemove(login.Hash, out _);
        _byAge.Remove(login.Node);
        string user = login.Principal.ToString();
        HashSet<Login> logins = _byUser[user];
        logins.Remove(login);
        if (logins.Count == 0)
            _byUser.Remove(user);
    }

    private sealed class Login
    {
        public Login(string hash, Principal principal, DateTimeOffset expires, long made)
        {
            (Hash, Principal, Expires, Made) = (hash, principal, expires, made);
            Node = new LinkedListNode<Login>(this);
        }

        public string Hash { get; }

        public Principal Principal { get; }

        public DateTimeOffset Expires { get; }

        public long Made { get; }

        public LinkedListNode<Login> Node { get; }
    }
}
