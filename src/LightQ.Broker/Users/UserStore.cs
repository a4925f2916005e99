using System.Collections.Concurrent;
using LightQ.Broker.Catalog;
using LightQ.Protocol;

namespace LightQ.Broker.Users;

/// <summary>The users, their rights and their tokens, kept in the catalog.</summary>
/// <remarks>
/// Thread-safe. Every change is stored before the call returns, and before <see cref="Changed"/>; reading takes no
/// lock. When this broker's own disk refuses, a change that takes something away counts all the same, and is followed
/// by an <see cref="UnstoredException"/>; any other does not count, and none that a cluster's catalog does not take.
/// What is checked and changed is given to the catalog as a function, since another node may be faster.
/// </remarks>
public sealed class UserStore
{
    /// <summary>The user whose password is in a file, and which is none of these.</summary>
    public const string Admin = "admin";

    /// <summary>A client that has not logged in.</summary>
    public const string Anonymous = "anonymous";

    /// <summary>The characters of a password, least and most.</summary>
    public const int MinPasswordLength = 8,
        MaxPasswordLength = 500;

    private const int MaxDescriptionLength = 200;

    private readonly TopicCatalog _catalog;
    private readonly TimeProvider _time;

    /// <summary>When the tokens of this run were made, by a clock that is not set.</summary>
    private readonly ConcurrentDictionary<string, long> _made = new(StringComparer.Ordinal);
    private readonly Func<BrokerOptions> _options;
    private readonly LimitRefusals _refusals;

    internal UserStore(TopicCatalog catalog, TimeProvider time, Func<BrokerOptions> options, LimitRefusals refusals)
    {
        _options = options;
        _refusals = refusals;
        _catalog = catalog;
        _time = time;
    }

    /// <summary>
    /// Called after every change of rights, on the thread that made it, or on another for one of another node; it holds
    /// no lock.
    /// </summary>
    public event Action? Changed;

    /// <summary>The users and tokens now.</summary>
    public UserTable Table => _catalog.Users;

    /// <summary>Finds a user.</summary>
    /// <exception cref="BrokerException">There is none: <see cref="ErrorCode.UnknownUser"/>.</exception>
    public User Get(string name) =>
        Table.Users.GetValueOrDefault(name)
        ?? throw new BrokerException(ErrorCode.UnknownUser, $"There is no user '{TopicName.Printable(name)}'.");

    /// <summary>Whether a user may have this name.</summary>
    /// <exception cref="BrokerException">It may not.</exception>
    public static void CheckName(string name)
    {
        if (!TopicName.IsValid(name))
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"'{TopicName.Printable(name)}' is not a user's name; allowed: {TopicName.Rule}."
            );
        }

        if (name is Admin or Anonymous)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"'{name}' is a name that the broker uses itself; allowed: any other."
            );
        }
    }

    /// <summary>Whether a user may have this password.</summary>
    /// <exception cref="BrokerException">It may not.</exception>
    public static void CheckPassword(string password)
    {
        if (
            password.Length is < MinPasswordLength or > MaxPasswordLength
            || password.Contains('\0', StringComparison.Ordinal)
        )
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The password has {password.Length} characters; allowed: {MinPasswordLength} to {MaxPasswordLength}, "
                    + $"and no NUL."
            );
        }
    }

    /// <summary>Makes a user without rights.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="passwordHash">Its password's hash; empty for none.</param>
    /// <exception cref="BrokerException">The name is not allowed or taken, or there are too many.</exception>
    public User Create(string name, string passwordHash)
    {
        CheckName(name);
        User user = null!;
        _catalog.Change(() =>
        {
            if (Table.Users.ContainsKey(name))
                throw new BrokerException(ErrorCode.UserExists, $"The user '{name}' exists already.");
            Demand(
                Table.Users.Count,
                _options().MaxUsers,
                nameof(BrokerOptions.MaxUsers),
                "There can be no more users until one is deleted"
            );
            user = new User(name, NewId(), _time.GetUtcNow(), passwordHash, 0, []);
            return new CatalogRecord { User = user };
        });
        Changed?.Invoke();
        return user;
    }

    /// <summary>Changes a password: logins with the one before are no longer valid.</summary>
    public void SetPassword(string name, string passwordHash)
    {
        TakeAway(() =>
        {
            User user = Get(name);
            return new CatalogRecord
            {
                User = user with { Password = passwordHash, PasswordGeneration = user.PasswordGeneration + 1 },
            };
        });
    }

    /// <summary>Replaces the hash of the same password, unless it was changed meanwhile.</summary>
    public void Rehash(User user, string passwordHash)
    {
        try
        {
            _catalog.Change(() =>
                Table.Users.TryGetValue(user.Name, out User? current)
                && current.Id == user.Id
                && current.Password == user.Password
                    ? new CatalogRecord { User = current with { Password = passwordHash } }
                    : null
            );
        }
        catch (UnstoredException)
        {
            // The old hash serves as well; the catalog reports the error.
        }
    }

    /// <summary>Deletes a user with its rights and tokens.</summary>
    public void Delete(string name)
    {
        TakeAway(() => new CatalogRecord { DeletedUser = Get(name).Name });
    }

    /// <summary>Gives a user a right.</summary>
    /// <returns>Whether it did not have this grant yet.</returns>
    public bool Grant(string name, Grant grant)
    {
        bool isNew = _catalog.Change(() =>
        {
            User user = Get(name);
            if (user.Grants.Contains(grant))
                return null;
            Demand(
                user.Grants.Count,
                _options().MaxGrantsPerUser,
                nameof(BrokerOptions.MaxGrantsPerUser),
                $"The user '{name}' can have no more rights until one is removed, and one on a prefix such as "
                    + $"orders.* stands for many"
            );
            return new CatalogRecord { User = user with { Grants = [.. user.Grants, grant] } };
        });
        if (isNew)
            Changed?.Invoke();
        return isNew;
    }

    /// <summary>Takes a right from a user.</summary>
    /// <returns>Whether it had exactly this grant.</returns>
    public bool Revoke(string name, Grant grant) =>
        TakeAway(() =>
        {
            User user = Get(name);
            return user.Grants.Contains(grant)
                ? new CatalogRecord { User = user with { Grants = [.. user.Grants.Where(g => g != grant)] } }
                : null;
        });

    /// <summary>Keeps a token.</summary>
    /// <exception cref="BrokerException">
    /// There is no such user, it has too many, or the expiry is not in the future.
    /// </exception>
    public AccessToken AddToken(string user, string hash, DateTimeOffset? expires, string description)
    {
        DateTimeOffset now = _time.GetUtcNow();
        if (expires <= now)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The token would end at {expires:u}, which has passed; allowed: a future time, or none."
            );
        }

        if (description.Length > MaxDescriptionLength || description.Any(char.IsControl))
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The description has {description.Length} characters; allowed: {MaxDescriptionLength}, and no "
                    + $"control characters."
            );
        }

        _made[hash] = _time.GetTimestamp();
        var token = new AccessToken(Guid.NewGuid().ToString("N")[..12], user, hash, now, expires, description);
        _catalog.Change(() =>
        {
            if (user != Admin)
                Get(user);
            int tokens = Table.Tokens.Values.Count(t => t.User == user && !HasExpired(t));
            Demand(
                tokens,
                _options().MaxTokensPerUser,
                nameof(BrokerOptions.MaxTokensPerUser),
                $"The user '{user}' can have no more tokens until one is revoked or ends"
            );
            return new CatalogRecord { Token = token };
        });
        ForgetExpired();
        Changed?.Invoke();
        return token;
    }

    /// <summary>
    /// For how long a token still stands for its user; null for ever. One that this run has made lives as long as it
    /// was to, whatever becomes of the clock.
    /// </summary>
    public TimeSpan? LeftOf(AccessToken token) =>
        token.Expires is not { } end ? null
        : _made.TryGetValue(token.Hash, out long made) ? end - token.Created - _time.GetElapsedTime(made)
        : end - _time.GetUtcNow();

    /// <summary>Whether a token has ended.</summary>
    public bool HasExpired(AccessToken token) => LeftOf(token) <= TimeSpan.Zero;

    /// <summary>Finds a token by its id.</summary>
    /// <exception cref="BrokerException">There is none: <see cref="ErrorCode.UnknownToken"/>.</exception>
    public AccessToken GetToken(string id) =>
        Table.Tokens.Values.FirstOrDefault(t => t.Id == id)
        ?? throw new BrokerException(ErrorCode.UnknownToken, $"There is no token '{TopicName.Printable(id)}'.");

    /// <summary>Ends a token.</summary>
    public void RevokeToken(string id)
    {
        TakeAway(() => new CatalogRecord { DeletedToken = GetToken(id).Id });
    }

    /// <summary>Ends a login of the cluster before its time, at every node.</summary>
    /// <param name="id">The login.</param>
    /// <param name="expires">When it would have ended.</param>
    internal void EndLogin(Guid id, DateTimeOffset expires) =>
        TakeAway(() =>
            Table.EndedLogins.ContainsKey(id)
                ? null
                : new CatalogRecord { EndedLogin = new EndedLogin(id, expires, _time.GetUtcNow()) }
        );

    /// <summary>Sets the password of admin for all nodes of the cluster; logins with the one before end.</summary>
    /// <param name="passwordHash">Its hash.</param>
    /// <param name="isFirst">Whether it is set only if there is none yet.</param>
    /// <returns>Whether it was set.</returns>
    internal bool SetAdminPassword(string passwordHash, bool isFirst = false) =>
        TakeAway(() =>
            isFirst && Table.Admin is not null
                ? null
                : new CatalogRecord { Admin = new AdminCredentials(passwordHash, (Table.Admin?.Generation ?? 0) + 1) }
        );

    /// <summary>Another change has changed rights: a topic's own user, or another node.</summary>
    internal void RaiseChanged() => Changed?.Invoke();

    /// <summary>An id whose number no other user has.</summary>
    private Guid NewId()
    {
        Guid id;
        do id = Guid.NewGuid();
        while (Table.HasNumber(UserNumber.Of(id)));
        return id;
    }

    private void Demand(int count, int limit, string setting, string found)
    {
        if (count >= limit)
            throw _refusals.Exhausted(setting, limit, found);
    }

    private void ForgetExpired()
    {
        try
        {
            foreach (AccessToken old in Table.Tokens.Values.Where(HasExpired).ToArray())
            {
                _made.TryRemove(old.Hash, out _);
                _catalog.Change(
                    () => Table.Tokens.ContainsKey(old.Hash) ? new CatalogRecord { DeletedToken = old.Id } : null,
                    takesAway: true
                );
            }
        }
        catch (UnstoredException)
        {
            // Expired tokens do not count wherever they are; the catalog reports the error.
        }
    }

    /// <summary>Makes a change that counts whether or not this broker's own disk takes it.</summary>
    /// <param name="make">Makes its record; null when there is nothing to change.</param>
    /// <returns>Whether there was something to change.</returns>
    private bool TakeAway(Func<CatalogRecord?> make)
    {
        bool isMade;
        try
        {
            isMade = _catalog.Change(make, takesAway: true);
        }
        catch (UnstoredException)
        {
            Changed?.Invoke();
            throw;
        }
        if (isMade)
            Changed?.Invoke();
        return isMade;
    }
}
