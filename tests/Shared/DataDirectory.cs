namespace LightQ.Tests.Shared;

/// <summary>A broker's files.</summary>
internal static class DataDirectory
{
    /// <summary>Copies them as kill -9 would leave them at this moment: all that was written, and no lock.</summary>
    public static void CopyAsKilled(string from, string to)
    {
        foreach (string path in Directory.EnumerateFiles(from, "*", SearchOption.AllDirectories))
        {
            string relative = Path.GetRelativePath(from, path);
            if (relative == "LOCK")
                continue;
            string target = Path.Combine(to, relative);
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            try
            {
                File.Copy(path, target);
            }
            catch (FileNotFoundException) when (path.EndsWith(".tmp", StringComparison.Ordinal))
            {
                // It got its name meanwhile: as if the kill had come before it was made.
            }
        }
    }
}
