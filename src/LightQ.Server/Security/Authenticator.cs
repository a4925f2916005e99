using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using LightQ.Protocol.Frames;

namespace LightQ.Server.Security;

/// <summary>Knows the admin's password and the tokens given out. Thread-safe.</summary>
public sealed class Authenticator
{
    /// <summary>The user made at the first start.</summary>
    public const string Admin = "admin";

    private static readonly TimeSpan TokenLife = TimeSpan.FromMinutes(15);
    private readonly byte[] _passwordHash;
    private readonly bool _requireAuth;
    private readonly TimeProvider _time;
    private readonly ConcurrentDictionary<string, DateTimeOffset> _tokens = new(StringComparer.Ordinal);

    /// <param name="adminPassword">The admin's password: 256 random bits, so one round of SHA-256 is enough to keep it in memory.</param>
    /// <param name="requireAuth">Whether anonymous clients are refused.</param>
    /// <param name="time">The clock that tokens expire by.</param>
    public Authenticator(string adminPassword, bool requireAuth, TimeProvider time)
    {
        _passwordHash = Hash(adminPassword);
        _requireAuth = requireAuth;
        _time = time;
    }

    /// <summary>Whether anonymous clients may do everything.</summary>
    public bool AllowsAnonymous => !_requireAuth;

    /// <summary>Checks what a client shows.</summary>
    /// <param name="mechanism">See <see cref="HelloFrame.Mechanism"/>.</param>
    /// <param name="credentials">See <see cref="HelloFrame.Credentials"/>.</param>
    public ValueTask<bool> AuthenticateAsync(string mechanism, string credentials)
    {
        switch (mechanism)
        {
            case HelloFrame.Anonymous:
                return ValueTask.FromResult(AllowsAnonymous);
            case HelloFrame.Token:
                return ValueTask.FromResult(IsValid(credentials));
            case HelloFrame.Plain:
                int separator = credentials.IndexOf('\0', StringComparison.Ordinal);
                return ValueTask.FromResult(separator >= 0 && IsValid(credentials[..separator], credentials[(separator + 1)..]));
            default:
                return ValueTask.FromResult(false);
        }
    }

    /// <summary>Gives out a token; null when user or password is wrong.</summary>
    public (string Token, DateTimeOffset Expires)? Login(string user, string password)
    {
        if (!IsValid(user, password))
            return null;
        DateTimeOffset now = _time.GetUtcNow();
        foreach ((string hash, DateTimeOffset expires) in _tokens)
        {
            if (expires <= now)
                _tokens.TryRemove(hash, out _);
        }
        string token = Convert.ToBase64String(RandomNumberGenerator.GetBytes(32)).TrimEnd('=').Replace('+', '-').Replace('/', '_');
        DateTimeOffset until = now + TokenLife;
        _tokens[KeyOf(token)] = until;
        return (token, until);
    }

    /// <summary>Whether a token was given out and is still in force.</summary>
    public bool IsValid(string token) => _tokens.TryGetValue(KeyOf(token), out DateTimeOffset expires) && expires > _time.GetUtcNow();

    /// <summary>Ends a token.</summary>
    public void Revoke(string token) => _tokens.TryRemove(KeyOf(token), out _);

    private bool IsValid(string user, string password)
    {
        bool rightPassword = CryptographicOperations.FixedTimeEquals(Hash(password), _passwordHash);
        return rightPassword & user == Admin;
    }

    private static byte[] Hash(string secret) => SHA256.HashData(Encoding.UTF8.GetBytes(secret));

    /// <summary>Only a token's hash is kept.</summary>
    private static string KeyOf(string token) => Convert.ToHexString(Hash(token));
}
