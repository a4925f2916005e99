namespace LightQ.IntegrationTests.Cli;

/// <summary>A big file of real text: the documentation that comes with the SDK, over and over.</summary>
internal static class RealText
{
    private const long UsualBytes = 20_000_000;
    private const long HeavyBytes = 200_000_000;

    /// <summary>Writes it. Lines of all lengths, some with CR, some empty; no LF at the very end.</summary>
    public static async Task WriteAsync(string path, CancellationToken cancellationToken)
    {
        long wanted = Environment.GetEnvironmentVariable("LIGHTQ_TIER") == "C" ? HeavyBytes : UsualBytes;
        byte[] text = [.. Sources().SelectMany(File.ReadAllBytes)];
        await using FileStream file = File.Create(path);
        while (file.Length < wanted)
        {
            await file.WriteAsync(text, cancellationToken);
            await file.WriteAsync("\r\n\n\nend of text\n"u8.ToArray(), cancellationToken);
        }
        await file.WriteAsync("the last line has no end"u8.ToArray(), cancellationToken);
    }

    private static IEnumerable<string> Sources()
    {
        string runtime = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        string root = Path.GetFullPath(Path.Combine(runtime, "..", "..", ".."));
        long total = 0;
        foreach (string file in Directory.EnumerateFiles(root, "*.xml", SearchOption.AllDirectories))
        {
            yield return file;
            total += new FileInfo(file).Length;
            if (total > UsualBytes / 2)
                yield break;
        }
    }
}
