using System.Diagnostics;
using System.Text.Json;
using System.Text.RegularExpressions;
using LightQ.Cli.Output;

namespace LightQ.Cli.Options;

/// <summary>
/// The contexts of this user: one file in the user's configuration folder, which no other user may read.
/// </summary>
internal static partial class ContextFile
{
    /// <summary>What a name may be, for errors.</summary>
    public const string NameRule = "a letter or digit, then letters, digits, '.', '_' or '-', 64 characters at most";

    private const UnixFileMode Own = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private const UnixFileMode Others =
        UnixFileMode.GroupRead
        | UnixFileMode.GroupWrite
        | UnixFileMode.GroupExecute
        | UnixFileMode.OtherRead
        | UnixFileMode.OtherWrite
        | UnixFileMode.OtherExecute;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5),
        Pause = TimeSpan.FromMilliseconds(20);

    /// <summary>Where it is; null where there is no folder for it.</summary>
    public static string? Path { get; } = Find();

    /// <summary>Whether a context can have this name.</summary>
    public static bool IsName(string name) => Name().IsMatch(name);

    /// <summary>Reads it; a file that is not there has no contexts.</summary>
    /// <exception cref="CommandException">It cannot be read, or others may read it.</exception>
    public static ContextDocument Read()
    {
        if (Path is null || !File.Exists(Path))
            return new ContextDocument();
        DemandOwnMode(Path);
        try
        {
            return JsonSerializer.Deserialize(File.ReadAllBytes(Path), ContextJson.Default.ContextDocument)
                ?? new ContextDocument();
        }
        catch (JsonException e)
        {
            throw Unusable($"The file of contexts {Path} is damaged, or of another version: {e.Message}", e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Unusable($"The file of contexts {Path} cannot be read: {e.Message}", e);
        }
    }

    /// <summary>The context of a name.</summary>
    /// <param name="document">Where it is looked for.</param>
    /// <param name="name">The name.</param>
    /// <param name="source">What names it, for the error.</param>
    /// <exception cref="CommandException">There is none.</exception>
    public static StoredContext Get(ContextDocument document, string name, string source) =>
        document.Contexts.TryGetValue(name, out StoredContext? context)
            ? context
            : throw new CommandException(
                ExitCode.Usage,
                $"There is no context '{name}', which {source} names; "
                    + (
                        document.Contexts.Count == 0
                            ? "there are none: 'lightq context add NAME --server URL' makes one."
                            : $"there are {string.Join(", ", document.Contexts.Keys)}."
                    )
            );

    /// <summary>Changes it. Another command that changes it at the same time waits.</summary>
    /// <param name="change">What to change; when it throws, nothing has changed.</param>
    /// <exception cref="CommandException">It cannot be read or written.</exception>
    public static void Change(Action<ContextDocument> change)
    {
        string path =
            Path
            ?? throw new CommandException(
                ExitCode.Usage,
                "There is no folder for contexts: set XDG_CONFIG_HOME or HOME to one that exists."
            );
        try
        {
            MakeFolder(System.IO.Path.GetDirectoryName(path)!);
            using FileStream held = Hold(path + ".lock");
            ContextDocument document = Read();
            change(document);
            Write(path, document);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new CommandException(
                ExitCode.Failed,
                $"The file of contexts {path} cannot be written: {e.Message}",
                e
            );
        }
    }

    private static string? Find()
    {
        string? folder = OperatingSystem.IsWindows() ? null : Environment.GetEnvironmentVariable("XDG_CONFIG_HOME");
        // The specification has a path that is not absolute ignored.
        if (folder is null || !System.IO.Path.IsPathFullyQualified(folder))
        {
            folder = Environment.GetFolderPath(
                Environment.SpecialFolder.ApplicationData,
                Environment.SpecialFolderOption.DoNotVerify
            );
        }
        return folder.Length == 0 ? null : System.IO.Path.Combine(folder, "lightq", "contexts.json");
    }

    private static void DemandOwnMode(string path)
    {
        if (OperatingSystem.IsWindows())
            return;
        UnixFileMode mode = File.GetUnixFileMode(path);
        if ((mode & Others) == 0)
            return;
        throw Unusable(
            $"The file of contexts {path} may hold passwords, and other users of this machine have access to it (mode "
                + $"{Convert.ToString((int)mode, 8).PadLeft(4, '0')}). Take it from them: chmod 600 '{path}'",
            null
        );
    }

    private static void MakeFolder(string folder)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(folder);
        else
            Directory.CreateDirectory(folder, Own | UnixFileMode.UserExecute);
    }

    private static FileStream Hold(string path)
    {
        for (var watch = Stopwatch.StartNew(); ; Thread.Sleep(Pause))
        {
            try
            {
                return New(path, FileMode.OpenOrCreate);
            }
            catch (IOException) when (watch.Elapsed < Patience)
            {
                // Another command changes contexts at this moment.
            }
        }
    }

    /// <summary>Writes a new file beside it and puts that in its place, so that it is never half written.</summary>
    private static void Write(string path, ContextDocument document)
    {
        // A link is kept: what it leads to is replaced.
        string target = File.Exists(path)
            ? File.ResolveLinkTarget(path, returnFinalTarget: true)?.FullName ?? path
            : path;
        string next = target + ".new";
        File.Delete(next);
        using (FileStream file = New(next, FileMode.CreateNew))
            JsonSerializer.Serialize(file, document, ContextJson.Default.ContextDocument);
        File.Move(next, target, overwrite: true);
    }

    private static FileStream New(string path, FileMode mode)
    {
        var options = new FileStreamOptions
        {
            Mode = mode,
            Access = FileAccess.ReadWrite,
            Share = FileShare.None,
        };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = Own;
        return new FileStream(path, options);
    }

    private static CommandException Unusable(string message, Exception? inner) => new(ExitCode.Usage, message, inner);

    [GeneratedRegex("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", RegexOptions.CultureInvariant)]
    private static partial Regex Name();
}
