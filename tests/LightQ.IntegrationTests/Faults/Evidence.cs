using System.Globalization;

namespace LightQ.IntegrationTests.Faults;

/// <summary>Keeps what a failed run left, so that it can be looked into.</summary>
internal static class Evidence
{
    /// <summary>Copies a data directory aside.</summary>
    /// <returns>Where it is now.</returns>
    public static string Keep(string id, int seed, string directory)
    {
        string kept = Path.Combine(
            Path.GetTempPath(),
            $"lightq-{id}-{seed.ToString(CultureInfo.InvariantCulture)}-{Guid.NewGuid():N}"
        );
        foreach (string file in Directory.EnumerateFiles(directory, "*", SearchOption.AllDirectories))
        {
            string copy = Path.Combine(kept, Path.GetRelativePath(directory, file));
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(file, copy);
        }
        return kept;
    }
}
