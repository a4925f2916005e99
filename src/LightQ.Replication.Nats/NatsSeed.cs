using NATS.NKeys;

namespace LightQ.Replication.Nats;

/// <summary>The seed of a user that is an NKey.</summary>
/// <remarks>
/// The client library wants the public key in the file as well, which <c>nk -gen user</c> does not write there.
/// </remarks>
internal static class NatsSeed
{
    /// <summary>Reads a seed, and which public key is its own.</summary>
    /// <param name="file">The file; null for none.</param>
    /// <returns>Nulls where there is no file.</returns>
    /// <exception cref="ArgumentException">The file cannot be read, or has no seed of a user.</exception>
    public static (string? Seed, string? PublicKey) Read(string? file)
    {
        if (file is null)
            return default;
        string seed =
            Lines(file)
                .Select(line => line.Trim())
                .FirstOrDefault(line => line.StartsWith("SU", StringComparison.Ordinal))
            ?? throw new ArgumentException($"SeedFile '{file}' has no line that begins with SU, the seed of a user");
        try
        {
            using var pair = KeyPair.FromSeed(seed);
            return (seed, pair.GetPublicKey());
        }
        catch (Exception e) when (e is NKeysException or ArgumentException)
        {
            throw new ArgumentException($"SeedFile '{file}' has no valid seed of a user: {e.Message}", e);
        }
    }

    private static string[] Lines(string file)
    {
        try
        {
            return File.ReadAllLines(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ArgumentException($"SeedFile '{file}' cannot be read: {e.Message}", e);
        }
    }
}
