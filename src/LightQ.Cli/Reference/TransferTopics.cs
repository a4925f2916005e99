using System.Globalization;

namespace LightQ.Cli.Reference;

/// <summary>The separate topics that stand for the ancestor's partitions.</summary>
internal static class TransferTopics
{
    /// <summary>The name without the number that is meant when none is given.</summary>
    public const string UsualName = "test";

    /// <summary><c>test_1</c>, <c>test_2</c> ...</summary>
    public static IReadOnlyList<string> Of(string name, int count) =>
        [.. Enumerable.Range(1, count).Select(i => string.Create(CultureInfo.InvariantCulture, $"{name}_{i}"))];
}
