using LightQ.IntegrationTests.Grpc;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The files that the tests were built from.</summary>
internal static class SourceTree
{
    private static readonly string[] NotOurs = [".git", "bin", "obj", "node_modules", "packages", "tool"];

    /// <summary>Every Markdown file, from the root, with slashes.</summary>
    public static IEnumerable<string> Pages => PagesBelow("");

    /// <summary>The text of a file.</summary>
    /// <param name="path">From the root, with slashes.</param>
    public static string Read(string path) => File.ReadAllText(PathOf(path)).ReplaceLineEndings("\n");

    /// <summary>The full path of a file or folder.</summary>
    /// <param name="path">From the root, with slashes.</param>
    public static string PathOf(string path) => Path.Combine(StockClient.SourceTree, path);

    private static IEnumerable<string> PagesBelow(string folder)
    {
        IEnumerable<string> below = Directory
            .EnumerateDirectories(PathOf(folder))
            .Select(d => Path.GetFileName(d))
            .Where(name => !NotOurs.Contains(name))
            .SelectMany(name => PagesBelow(folder + name + "/"));
        return
        [
            .. Directory.EnumerateFiles(PathOf(folder), "*.md").Select(file => folder + Path.GetFileName(file)),
            .. below,
        ];
    }
}
