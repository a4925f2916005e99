using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace LightQ.Broker.Users;

/// <summary>
/// What is kept of a password: <c>$pbkdf2-sha256$i=600000$SALT$HASH</c>, the PHC string format with base64 without
/// padding.
/// </summary>
public static class PasswordHash
{
    /// <summary>
    /// How often a new password is hashed: what OWASP recommends for HMAC-SHA-256 (Password Storage Cheat Sheet). A
    /// quarter of a second on a slow core.
    /// </summary>
    public const int Iterations = 600_000;

    /// <summary>What hashes are made with now.</summary>
    public const string Algorithm = "pbkdf2-sha256";

    /// <summary>What topics' passwords were hashed with before.</summary>
    internal const string EarlierAlgorithm = "pbkdf2-sha512";

    private const int SaltBytes = 16,
        HashBytes = 32,
        LeastHashBytes = 16,
        MostHashBytes = 64,
        MostIterations = 100_000_000;
    private const string ExpectedStart = $"${Algorithm}$i=600000$";

    /// <summary>Hashes a new password. Slow on purpose.</summary>
    public static string Create(string password)
    {
        byte[] salt = RandomNumberGenerator.GetBytes(SaltBytes);
        return Format(
            Algorithm,
            Iterations,
            salt,
            Derive(HashAlgorithmName.SHA256, password, salt, Iterations, HashBytes)
        );
    }

    /// <summary>Whether the hash is this password's. As slow for a wrong one as for the right one.</summary>
    /// <exception cref="FormatException">It is no hash that this version reads.</exception>
    public static bool Verify(string hash, string password)
    {
        (HashAlgorithmName algorithm, int iterations, byte[] salt, byte[] expected) = Parse(hash);
        return CryptographicOperations.FixedTimeEquals(
            Derive(algorithm, password, salt, iterations, expected.Length),
            expected
        );
    }

    /// <summary>Whether a hash is made as new ones are; another is replaced when its password is next shown.</summary>
    public static bool IsCurrent(string hash) => hash.StartsWith(ExpectedStart, StringComparison.Ordinal);

    /// <summary>Whether this version can verify passwords with the hash.</summary>
    public static bool IsValid(string hash)
    {
        try
        {
            Parse(hash);
            return true;
        }
        catch (FormatException)
        {
            return false;
        }
    }

    internal static string Format(string algorithm, int iterations, byte[] salt, byte[] hash) =>
        string.Create(CultureInfo.InvariantCulture, $"${algorithm}$i={iterations}${Text(salt)}${Text(hash)}");

    private static (HashAlgorithmName Algorithm, int Iterations, byte[] Salt, byte[] Hash) Parse(string text)
    {
        string[] parts = text.Split('$');
        if (
            parts is not ["", Algorithm or EarlierAlgorithm, ['i', '=', .. string count], string salt, string hash]
            || !int.TryParse(count, NumberStyles.None, CultureInfo.InvariantCulture, out int iterations)
            || iterations is < 1 or > MostIterations
        )
        {
            throw new FormatException("A stored password is not hashed in a way that this version knows.");
        }
        byte[] expected = Bytes(hash);
        // An empty hash would match every password.
        if (expected.Length is < LeastHashBytes or > MostHashBytes)
        {
            throw new FormatException(
                $"A stored password's hash has {expected.Length} bytes; allowed: {LeastHashBytes} to {MostHashBytes}."
            );
        }

        return (
            parts[1] == Algorithm ? HashAlgorithmName.SHA256 : HashAlgorithmName.SHA512,
            iterations,
            Bytes(salt),
            expected
        );
    }

    private static byte[] Derive(
        HashAlgorithmName algorithm,
        string password,
        byte[] salt,
        int iterations,
        int length
    ) => Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(password), salt, iterations, algorithm, length);

    private static string Text(byte[] bytes) => Convert.ToBase64String(bytes).TrimEnd('=');

    private static byte[] Bytes(string text) => Convert.FromBase64String(text.PadRight((text.Length + 3) / 4 * 4, '='));
}
