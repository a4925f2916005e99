using System.Xml.Linq;

namespace LightQ.Tests.Architecture;

/// <summary>The project files and sources that these tests look at, found upwards of the test assembly.</summary>
internal static class SourceTree
{
    public static readonly string Root = FindRoot();

    /// <summary>The libraries and programs, whose assemblies these tests can load.</summary>
    public static readonly IReadOnlyDictionary<string, ProjectFile> Projects;

    /// <summary>What runs in a browser and is built apart from the others.</summary>
    public static readonly IReadOnlyDictionary<string, ProjectFile> BrowserProjects;

    private const string BrowserSdk = "Microsoft.NET.Sdk.BlazorWebAssembly";

    static SourceTree()
    {
        ProjectFile[] all =
        [
            .. Directory
                .EnumerateFiles(Path.Combine(Root, "src"), "*.csproj", SearchOption.AllDirectories)
                .Select(Read),
        ];
        Projects = all.Where(p => p.Sdk != BrowserSdk).ToDictionary(project => project.Name);
        BrowserProjects = all.Where(p => p.Sdk == BrowserSdk).ToDictionary(project => project.Name);
    }

    /// <summary>The project and everything it references, directly or not.</summary>
    public static IReadOnlyCollection<ProjectFile> Closure(string name)
    {
        var found = new Dictionary<string, ProjectFile>();
        var open = new Stack<string>([name]);
        while (open.TryPop(out string? next))
        {
            if (!found.TryAdd(next, Projects[next]))
                continue;
            foreach (string reference in Projects[next].ProjectReferences)
                open.Push(reference);
        }
        return found.Values;
    }

    /// <summary>The C# files below src, generated and built ones left out.</summary>
    public static IEnumerable<string> Sources() =>
        Directory
            .EnumerateFiles(Path.Combine(Root, "src"), "*.cs", SearchOption.AllDirectories)
            .Where(path =>
                !Path.GetRelativePath(Root, path).Split(Path.DirectorySeparatorChar).Any(part => part is "bin" or "obj")
            );

    private static string FindRoot()
    {
        for (
            DirectoryInfo? directory = new(AppContext.BaseDirectory);
            directory is not null;
            directory = directory.Parent
        )
        {
            if (File.Exists(Path.Combine(directory.FullName, "LightQ.sln")))
                return directory.FullName;
        }
        throw new InvalidOperationException($"LightQ.sln is in no directory above {AppContext.BaseDirectory}.");
    }

    private static ProjectFile Read(string path)
    {
        var project = XDocument.Load(path);
        return new ProjectFile(
            Path.GetFileNameWithoutExtension(path),
            [
                .. Includes(project, "ProjectReference")
                    .Select(include => Path.GetFileNameWithoutExtension(include.Replace('\\', '/'))),
            ],
            [
                .. project
                    .Descendants("PackageReference")
                    .Where(item => !IsPrivate(item))
                    .Select(item => item.Attribute("Include")!.Value),
            ],
            [.. Includes(project, "FrameworkReference")],
            project.Root!.Attribute("Sdk")!.Value,
            project.Descendants("AssemblyName").FirstOrDefault()?.Value ?? Path.GetFileNameWithoutExtension(path)
        );
    }

    private static bool IsPrivate(XElement item) => item.Attribute("PrivateAssets")?.Value == "all";

    private static IEnumerable<string> Includes(XDocument project, string item) =>
        project.Descendants(item).Select(element => element.Attribute("Include")!.Value);

    internal sealed record ProjectFile(
        string Name,
        IReadOnlyList<string> ProjectReferences,
        IReadOnlyList<string> Packages,
        IReadOnlyList<string> Frameworks,
        string Sdk,
        string AssemblyName
    );
}
