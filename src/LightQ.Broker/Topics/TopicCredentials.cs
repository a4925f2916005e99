using System.Security.Cryptography;
using System.Text;

namespace LightQ.Broker.Topics;

/// <summary>A topic's own user, and what proves that somebody knows its password. The password itself is not kept.</summary>
/// <param name="User">The user's id.</param>
/// <param name="Salt">Random bytes of this topic.</param>
/// <param name="Hash">PBKDF2 with HMAC-SHA-512 of the password.</param>
/// <param name="Iterations">How often the hash was applied.</param>
public sealed record TopicCredentials(string User, byte[] Salt, byte[] Hash, int Iterations)
{
    private const int SaltBytes = 16;
    private const int HashBytes = 32;

    // What OWASP recommends for HMAC-SHA-512 (Password Storage Cheat Sheet): about a tenth of a second on a core.
    private const int UsualIterations = 210_000;

    /// <summary>Makes credentials for a password. Takes a tenth of a second.</summary>
    public static TopicCredentials Create(string user, string password)
    {
        byte[] salt = RandomNumberGenerator.GetBytes(SaltBytes);
        return new TopicCredentials(user, salt, Derive(password, salt, UsualIterations), UsualIterations);
    }

    /// <summary>Whether user and password are these. Takes as long for a wrong user as for a wrong password.</summary>
    public bool Match(string user, string password)
    {
        bool rightPassword = CryptographicOperations.FixedTimeEquals(Derive(password, Salt, Iterations), Hash);
        return rightPassword & user == User;
    }

    /// <summary>The user alone: a record would print the hash, too.</summary>
    public override string ToString() => User;

    private static byte[] Derive(string password, byte[] salt, int iterations) =>
        Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(password), salt, iterations, HashAlgorithmName.SHA512, HashBytes);
}
