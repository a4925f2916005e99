using NATS.NKeys;

namespace LightQ.Replication.Nats;

/// <summary>The seed of a NATS user that is an NKey. It is never shown.</summary>
internal static class UserSeed
{
    /// <summary>Reads the seed from a file, and finds the public key that belongs to it.</summary>
    /// <param name="file">
    /// A file with a line that begins with SU, such as <c>nk -gen user</c> and <c>nsc</c> write; other lines are
    /// passed over.
    /// </param>
    /// <exception cref="ArgumentException">The file cannot be read, or holds no user's seed.</exception>
    public static (string PublicKey, string Seed) Read(string file)
    {
        string? seed;
        try
        {
            seed = File.ReadLines(file)
                .Select(line => line.Trim())
                .FirstOrDefault(line => line.StartsWith("SU", StringComparison.Ordinal));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ArgumentException($"SeedFile '{file}' cannot be read: {e.Message}", e);
        }
        if (seed is null)
            throw new ArgumentException($"SeedFile '{file}' has no line that begins with SU, a user's seed");
        try
        {
            using var key = KeyPair.FromSeed(seed);
            return (key.GetPublicKey(), seed);
        }
        catch (Exception e) when (e is NKeysException or ArgumentException) // Of a character that no seed has.
        {
            throw new ArgumentException($"SeedFile '{file}' holds no seed of a user: {e.Message}", e);
        }
    }
}
