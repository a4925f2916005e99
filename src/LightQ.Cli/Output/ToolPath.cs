namespace LightQ.Cli.Output;

/// <summary>
/// How this tool is called from a shell: by its name if that leads to it, otherwise by its path, as after <c>dotnet
/// run</c>.
/// </summary>
internal static class ToolPath
{
    public const string Name = "lightq";

    private const string Muxer = "dotnet";

    /// <summary>The tool's own assembly, which <c>dotnet</c> runs. A native program has none.</summary>
    public static string AssemblyFile => Path.Combine(AppContext.BaseDirectory, $"{Name}.dll");

    /// <summary>What to type in front of a command.</summary>
    public static string Typed =>
        Find(Environment.ProcessPath, AssemblyFile, Environment.GetEnvironmentVariable("PATH"));

    /// <param name="process">What this process runs.</param>
    /// <param name="assembly">The tool's own file.</param>
    /// <param name="path">Where shells look for programs.</param>
    public static string Find(string? process, string assembly, string? path)
    {
        if (process is null || Path.GetFileNameWithoutExtension(process) == Muxer)
            return $"{Muxer} {Quoted(assembly)}";
        string? first = (path ?? "")
            .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Select(d => Path.Combine(d, Path.GetFileName(process)))
            .FirstOrDefault(File.Exists);
        return first is not null && Path.GetFileNameWithoutExtension(process) == Name && IsSame(first, process)
            ? Name
            : Quoted(process);
    }

    private static bool IsSame(string one, string other) => Target(one) == Target(other);

    private static string Target(string file) =>
        Path.GetFullPath(File.ResolveLinkTarget(file, returnFinalTarget: true)?.FullName ?? file);

    private static string Quoted(string file) => file.Contains(' ', StringComparison.Ordinal) ? $"'{file}'" : file;
}
