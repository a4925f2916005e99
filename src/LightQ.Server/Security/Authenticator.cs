using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using System.Text;
using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Server.Security;

/// <summary>Identifies the caller: by password, token or certificate, the same on every port. Thread-safe.</summary>
internal sealed class Authenticator
{
    /// <summary>The user made at the first start.</summary>
    public const string Admin = UserStore.Admin;

    /// <summary>Parts the topic from its own user in a user's name: it occurs in neither.</summary>
    public const char TopicSeparator = '/';

    private const int TokenBytes = 32;
    private const string WrongPassword = "User or password is wrong.";

    /// <summary>
    /// How long a client with a wrong password waits for the answer, chosen at random each time: a client that waits
    /// for it can guess once a second, and many clients that were rejected together do not come back together. By the
    /// machine's clock, whatever clock the broker has.
    /// </summary>
    public static readonly (TimeSpan Least, TimeSpan Most) RefusalDelay = (
        TimeSpan.FromMilliseconds(500),
        TimeSpan.FromMilliseconds(1500)
    );

    /// <summary>The account of admin in the queue of passwords, as a user's id is of a user.</summary>
    private static readonly Guid AdminAccount = new("6b1f2f0e-6d5c-4c7e-9a54-0d5e1f3a9c11");

    private readonly LightQBroker _broker;
    private volatile AuthenticatorOptions _options;
    private readonly ISecurityEvents _events;
    private readonly TimeProvider _time;
    private readonly byte[]? _adminHash;
    private readonly LoginTokens _logins;
    private readonly SignedLogins? _signed;

    /// <param name="broker">Knows the users, and the topics that have one of their own.</param>
    /// <param name="adminPassword">
    /// The admin's password: 256 random bits, so one round of SHA-256 is enough to keep it in memory. Null in a
    /// cluster, whose catalog has it.
    /// </param>
    /// <param name="options">Which clients need not log in.</param>
    /// <param name="refusals">Counts logins that are rejected because there are too many.</param>
    /// <param name="events">Gets every login.</param>
    /// <param name="time">The clock that tokens expire by.</param>
    /// <param name="signed">Makes and reads the logins' tokens of a cluster; null for a broker alone.</param>
    public Authenticator(
        LightQBroker broker,
        string? adminPassword,
        AuthenticatorOptions options,
        LimitRefusals refusals,
        ISecurityEvents events,
        TimeProvider time,
        SignedLogins? signed = null
    )
    {
        _broker = broker;
        _options = options;
        _events = events;
        _time = time;
        _signed = signed;
        _adminHash = adminPassword is null ? null : SHA256.HashData(Encoding.UTF8.GetBytes(adminPassword));
        _logins = new LoginTokens(options.MaxLoginsPerUser, refusals, time);
        Passwords = new PasswordQueue(options.MaxWaitingLogins, refusals);
    }

    /// <summary>Where passwords are hashed.</summary>
    public PasswordQueue Passwords { get; }

    /// <summary>
    /// Who need not log in. After a change, <see cref="AccessControl.Review()"/> ends what may not go on.
    /// </summary>
    public AuthenticatorOptions Options
    {
        get => _options;
        set => _options = value;
    }

    /// <summary>Whether a client that has not logged in may do anything.</summary>
    public bool AllowsAnonymous(bool isLocal) =>
        _options is { RequireAuth: false, IsLimitedToAdmin: false }
        && _broker.Users.Table.Users.IsEmpty
        && (isLocal || _options.AllowsRemoteAnonymous);

    /// <summary>Checks what a client of the data plane shows.</summary>
    /// <param name="mechanism">See <see cref="HelloFrame.Mechanism"/>.</param>
    /// <param name="credentials">See <see cref="HelloFrame.Credentials"/>.</param>
    /// <param name="peer">Where it comes from.</param>
    /// <exception cref="BrokerException">
    /// It is not what it says: <see cref="ErrorCode.Unauthenticated"/>; or too many ask at once.
    /// </exception>
    public async ValueTask<Principal> AuthenticateAsync(string mechanism, string credentials, PeerChannel peer)
    {
        switch (mechanism)
        {
            case HelloFrame.Anonymous:
                return await OfNothingAsync(peer, CancellationToken.None).ConfigureAwait(false)
                    ?? throw LoginDemandOf(peer, "a user and password, or a token.");
            case HelloFrame.Token:
                Principal owner = await OfTokenAsync(credentials, Origin.Data(peer), CancellationToken.None)
                    .ConfigureAwait(false);
                _events.Raise(
                    new SecurityEvent(
                        SecurityAction.LoginAccepted,
                        owner.ToString(),
                        Origin.Data(peer),
                        Detail: "token"
                    )
                );
                return owner;
            case HelloFrame.External:
                return await AuthenticateExternalAsync(peer).ConfigureAwait(false);
            case HelloFrame.Plain:
                int separator = credentials.IndexOf('\0', StringComparison.Ordinal);
                (string user, string password) =
                    separator < 0 ? (credentials, "") : (credentials[..separator], credentials[(separator + 1)..]);
                return await LogInAsync(user, password, Origin.Data(peer), CancellationToken.None)
                    .ConfigureAwait(false);
            default:
                throw Refuse(
                    $"The mechanism is '{TopicName.Printable(mechanism)}'; allowed: {HelloFrame.Anonymous}, "
                        + $"{HelloFrame.Plain}, {HelloFrame.Token}, {HelloFrame.External}."
                );
        }
    }

    /// <summary>
    /// The principal of a client without credentials: the user that its certificate names, else the anonymous one; null
    /// when it has to log in.
    /// </summary>
    public ValueTask<Principal?> OfNothingAsync(PeerChannel peer, CancellationToken cancellationToken) =>
        FindAsync(
            () => OfCertificate(peer) ?? (AllowsAnonymous(peer.IsLocal) ? Principal.Anonymous(peer.IsLocal) : null),
            cancellationToken
        );

    /// <summary>Why a client that shows nothing has to log in.</summary>
    /// <param name="peer">The client.</param>
    /// <param name="how">How it does so.</param>
    public BrokerException LoginDemandOf(PeerChannel peer, string how) =>
        _options.IsLimitedToAdmin
            ? AdminOnly()
            : Refuse(
                peer.CertificateNames is { Count: > 0 }
                    ? $"The client certificate names {Printable(peer)}, and no user has one of these names; so this "
                        + $"broker requires {how}"
                    : $"This broker requires {how}"
            );

    /// <summary>The user that a verified certificate names.</summary>
    /// <exception cref="BrokerException">There is no certificate, or it names no user.</exception>
    public async ValueTask<Principal> AuthenticateExternalAsync(PeerChannel peer)
    {
        Principal? principal = await FindAsync(() => OfCertificate(peer), CancellationToken.None).ConfigureAwait(false);
        if (principal is null)
        {
            string names = Printable(peer);
            _events.Raise(
                new SecurityEvent(SecurityAction.LoginRefused, names, Origin.Data(peer), Detail: "certificate")
            );
            if (_options.IsLimitedToAdmin)
                throw AdminOnly();
            throw Refuse(
                names.Length == 0
                    ? "There is no client certificate on this connection."
                    : $"The client certificate names {names}, and no user has one of these names."
            );
        }
        _events.Raise(
            new SecurityEvent(
                SecurityAction.LoginAccepted,
                principal.ToString(),
                Origin.Data(peer),
                Detail: "certificate"
            )
        );
        return principal;
    }

    /// <summary>
    /// Checks user and password; if either is wrong, says so after <see cref="RefusalDelay"/>. The user is a user's
    /// name, <c>admin</c>, or <c>TOPIC/USER</c> for a topic's own.
    /// </summary>
    /// <exception cref="BrokerException">
    /// Either is wrong, or too many ask at once; or only admin may log in at the moment, and the password was not even
    /// checked.
    /// </exception>
    public async ValueTask<Principal> LogInAsync(
        string user,
        string password,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        Principal? principal;
        if (user != Admin && _options.IsLimitedToAdmin)
        {
            _events.Raise(new SecurityEvent(SecurityAction.LoginRefused, user, origin, Detail: "catalog unconfirmed"));
            throw AdminOnly();
        }
        ulong seen = _broker.Decisions.Sequence;
        principal = await OfPasswordAsync(user, password, origin, cancellationToken).ConfigureAwait(false);
        if (principal is null && await _broker.Decisions.ReadOnAsync(seen, cancellationToken).ConfigureAwait(false))
            principal = await OfPasswordAsync(user, password, origin, cancellationToken).ConfigureAwait(false);
        if (principal is null)
        {
            _events.Raise(
                new SecurityEvent(SecurityAction.LoginRefused, TopicName.Printable(user), origin, Detail: "password")
            );
            await Task.Delay(
                    RefusalDelay.Least + ((RefusalDelay.Most - RefusalDelay.Least) * Random.Shared.NextDouble()),
                    cancellationToken
                )
                .ConfigureAwait(false);
            throw Refuse(WrongPassword);
        }
        _events.Raise(
            new SecurityEvent(SecurityAction.LoginAccepted, principal.ToString(), origin, Detail: "password")
        );
        return principal;
    }

    /// <summary>Who a token was given to.</summary>
    /// <exception cref="BrokerException">It is unknown or has ended.</exception>
    public async ValueTask<Principal> OfTokenAsync(string token, Origin origin, CancellationToken cancellationToken)
    {
        Principal? principal = await FindAsync(
                () => Find(token) is { } found && IsCurrent(found) ? found : null,
                cancellationToken
            )
            .ConfigureAwait(false);
        if (principal is not null)
            return principal;
        _events.Raise(new SecurityEvent(SecurityAction.LoginRefused, "", origin, Detail: "token"));
        throw _options.IsLimitedToAdmin
            ? AdminOnly()
            : Refuse("The token is unknown or has expired: log in for a new one.");
    }

    /// <summary>Gives out a token that stands for a login for 15 minutes.</summary>
    /// <exception cref="BrokerException">The user has as many as it may have.</exception>
    public (string Token, DateTimeOffset Expires) IssueToken(Principal principal)
    {
        if (_signed is null)
        {
            string token = NewToken();
            return (token, _logins.Add(HashOf(token), principal, IsCurrent));
        }
        Principal login = principal.WithLogin(Guid.NewGuid());
        DateTimeOffset expires = _logins.Add(login.LoginId.ToString()!, login, IsCurrent);
        return (_signed.Issue(login, expires), expires);
    }

    /// <summary>Gives a login back, and with it what it has opened, in a cluster at every node.</summary>
    /// <returns>False when the token is not of a login.</returns>
    /// <exception cref="UnstoredException">The cluster's catalog does not take it: the login goes on.</exception>
    public async ValueTask<bool> LogOutAsync(string token, Origin origin)
    {
        Principal? principal;
        if (_signed?.TryRead(token, out principal, out DateTimeOffset expires) == true)
        {
            Guid login = principal!.LoginId!.Value;
            await _broker.Decisions.ChangeAsync(() => _broker.Users.EndLogin(login, expires)).ConfigureAwait(false);
            _logins.TryRemove(login.ToString(), out _);
        }
        else if (!_logins.TryRemove(HashOf(token), out principal))
        {
            return false;
        }
        principal.Revoke();
        _events.Raise(new SecurityEvent(SecurityAction.LoggedOut, principal.ToString(), origin));
        return true;
    }

    /// <summary>Whether what a principal has shown still counts.</summary>
    public bool IsCurrent(Principal principal)
    {
        if (_options.IsLimitedToAdmin && (principal.Kind != PrincipalKind.Admin || principal.TokenHash is not null))
            return false; // A token of admin is in the catalog, too.
        if (principal.IsRevoked || (principal.TokenHash is { } hash && !IsLasting(hash, out _)))
            return false;
        if (principal.LoginId is { } login && _broker.Users.Table.EndedLogins.ContainsKey(login))
            return false;
        return principal.Kind switch
        {
            PrincipalKind.Anonymous => AllowsAnonymous(principal.IsLocal),
            PrincipalKind.Admin => principal.PasswordGeneration is not { } shown
                || shown == _broker.Users.Table.Admin?.Generation,
            PrincipalKind.User => _broker.Users.Table.Users.TryGetValue(principal.Name, out User? user)
                && user.Id == principal.Id
                && (principal.PasswordGeneration is not { } generation || generation == user.PasswordGeneration),
            PrincipalKind.TopicUser => _broker.TryGetTopic(principal.TopicName, out Topic? topic)
                && topic.Id == principal.Id
                && topic.Credentials?.Password == principal.PasswordHash,
            _ => throw new InvalidOperationException($"A principal of kind {principal.Kind}."),
        };
    }

    /// <summary>Makes a token: 32 random bytes in base64url.</summary>
    public static string NewToken() => Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(TokenBytes));

    /// <summary>Only a token's hash is kept.</summary>
    public static string HashOf(string token) => Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(token)));

    /// <summary>
    /// Looks for a principal, in a cluster once more when the catalog had something new: nobody is refused by a copy
    /// that may be old.
    /// </summary>
    private async ValueTask<Principal?> FindAsync(Func<Principal?> find, CancellationToken cancellationToken)
    {
        ulong seen = _broker.Decisions.Sequence;
        if (find() is { } principal)
            return principal;
        return await _broker.Decisions.ReadOnAsync(seen, cancellationToken).ConfigureAwait(false) ? find() : null;
    }

    private ValueTask<Principal?> OfPasswordAsync(
        string user,
        string password,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        if (user == Admin)
            return OfAdminAsync(password, origin, cancellationToken);
        int separator = user.IndexOf(TopicSeparator, StringComparison.Ordinal);
        return separator < 0
            ? OfUserAsync(user, password, origin, cancellationToken)
            : OfTopicAsync(user[..separator], user[(separator + 1)..], password, origin, cancellationToken);
    }

    /// <summary>
    /// For how long the token that a principal has shown is still good; null for one that does not end, and for other
    /// logins.
    /// </summary>
    public TimeSpan? TokenLeftOf(Principal principal) =>
        principal.TokenHash is { } hash && _broker.Users.Table.Tokens.TryGetValue(hash, out AccessToken? token)
            ? _broker.Users.LeftOf(token)
            : null;

    private bool IsLasting(string hash, [NotNullWhen(true)] out AccessToken? token) =>
        _broker.Users.Table.Tokens.TryGetValue(hash, out token) && !_broker.Users.HasExpired(token);

    private Principal? OwnerOf(AccessToken token) =>
        token.User == Admin ? Principal.Admin(token.Hash)
        : _broker.Users.Table.Users.TryGetValue(token.User, out User? user) ? Principal.OfToken(user, token.Hash)
        : null;

    /// <summary>Who a token was given to, as far as that is known; it may have ended.</summary>
    private Principal? Find(string token)
    {
        if (_signed?.TryRead(token, out Principal? signed, out DateTimeOffset expires) == true)
            return expires > _time.GetUtcNow() ? signed : null;
        string hash = HashOf(token);
        if (!_logins.TryGet(hash, out Principal? principal) && IsLasting(hash, out AccessToken? lasting))
            principal = OwnerOf(lasting);
        return principal;
    }

    private static string Printable(PeerChannel peer) =>
        string.Join(", ", peer.CertificateNames.Select(TopicName.Printable));

    private Principal? OfCertificate(PeerChannel peer)
    {
        foreach (string name in _options.IsLimitedToAdmin ? [] : peer.CertificateNames ?? [])
        {
            if (_broker.Users.Table.Users.TryGetValue(name, out User? user))
                return Principal.OfCertificate(user);
        }
        return null;
    }

    private async ValueTask<Principal?> OfAdminAsync(
        string password,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        if (_adminHash is not null)
        {
            byte[] shown = SHA256.HashData(Encoding.UTF8.GetBytes(password));
            return CryptographicOperations.FixedTimeEquals(shown, _adminHash) ? Principal.Admin() : null;
        }
        AdminCredentials? admin = _broker.Users.Table.Admin;
        return await Passwords
            .VerifyAsync(origin, AdminAccount, admin?.Password, password, cancellationToken)
            .ConfigureAwait(false)
            ? Principal.Admin(passwordGeneration: admin!.Generation)
            : null;
    }

    private async ValueTask<Principal?> OfUserAsync(
        string name,
        string password,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        User? user = _broker.Users.Table.Users.GetValueOrDefault(name);
        string? hash = user is { Password.Length: > 0 } ? user.Password : null;
        if (
            !await Passwords
                .VerifyAsync(origin, user?.Id ?? Guid.Empty, hash, password, cancellationToken)
                .ConfigureAwait(false)
        )
        {
            return null;
        }

        if (!PasswordHash.IsCurrent(hash!))
        {
            string now = await Passwords.CreateAsync(password, cancellationToken).ConfigureAwait(false);
            await _broker
                .Decisions.ChangeAsync(() => _broker.Users.Rehash(user!, now), cancellationToken)
                .ConfigureAwait(false);
        }
        return Principal.OfPassword(user!);
    }

    private async ValueTask<Principal?> OfTopicAsync(
        string name,
        string user,
        string password,
        Origin origin,
        CancellationToken cancellationToken
    )
    {
        Topic? topic = _broker.TryGetTopic(name, out Topic? found) ? found : null;
        TopicCredentials? credentials = topic?.Credentials is { } own && own.User == user ? own : null;
        return await Passwords
            .VerifyAsync(origin, topic?.Id ?? Guid.Empty, credentials?.Password, password, cancellationToken)
            .ConfigureAwait(false)
            ? Principal.OfTopic(topic!, credentials!)
            : null;
    }

    private static BrokerException Refuse(string message) => new(ErrorCode.Unauthenticated, message);

    /// <summary>
    /// Of a code with which clients try again: they may be let in as they are, once the catalog is confirmed.
    /// </summary>
    private static BrokerException AdminOnly() =>
        new(
            ErrorCode.PermissionDenied,
            "The broker's catalog was repaired and has lost changes, so users and rights may not be what they were: "
                + "only admin may log in, with its password, until an administrator confirms it with 'lightq "
                + "server confirm-catalog'."
        );
}
