using System.Reflection;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>How the sources must look for names and files to stay findable.</summary>
public sealed class SourceShapeTests
{
    private const int MostLines = 700;

    public static TheoryData<string> ProjectNames => [.. SourceTree.Projects.Keys];

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void No_type_carries_the_last_segment_of_a_sibling_namespace(string name)
    {
        HashSet<string> segments =
        [
            .. SourceTree.Projects.Keys.Select(project => project[(project.LastIndexOf('.') + 1)..]),
        ];
        Assert.Contains("Broker", segments);
        Assembly assembly = Assembly.Load(SourceTree.Projects[name].AssemblyName);
        Assert.Empty(
            assembly
                .GetTypes()
                .Where(type => !type.IsNested && segments.Contains(type.Name))
                .Select(type => type.FullName)
        );
    }

    [Fact]
    public void No_type_is_named_for_a_drawer_of_odds_and_ends()
    {
        string[] drawers = ["Utils", "Util", "Helper", "Helpers", "Manager", "Common", "Misc"];
        Assert.DoesNotContain(
            SourceTree.Sources().Select(path => Path.GetFileNameWithoutExtension(path)),
            name => drawers.Any(drawer => name.EndsWith(drawer, StringComparison.Ordinal))
        );
    }

    [Fact]
    public void No_source_file_is_longer_than_700_lines()
    {
        (string Path, int Lines)[] files =
        [
            .. SourceTree
                .Sources()
                .Select(path => (Path.GetRelativePath(SourceTree.Root, path), File.ReadLines(path).Count())),
        ];
        Assert.NotEmpty(files);
        Assert.DoesNotContain(files, file => file.Lines > MostLines);
    }

    [Fact]
    public void No_source_file_hides_code_in_regions() =>
        Assert.DoesNotContain(
            SourceTree.Sources(),
            path => File.ReadLines(path).Any(line => line.TrimStart().StartsWith("#region", StringComparison.Ordinal))
        );
}
