using LightQ.IntegrationTests.Grpc;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The files that the tests were built from.</summary>
internal static class SourceTree
{
    /// <summary>The text of a file.</summary>
    /// <param name="path">From the root, with slashes.</param>
    public static string Read(string path) => File.ReadAllText(PathOf(path)).ReplaceLineEndings("\n");

    /// <summary>The full path of a file or folder.</summary>
    /// <param name="path">From the root, with slashes.</param>
    public static string PathOf(string path) => Path.Combine(StockClient.SourceTree, path);
}
