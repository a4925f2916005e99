using LightQ.Cli.Output;

namespace LightQ.Cli.Users;

/// <summary>Writes a secret where its owner alone may read it.</summary>
internal static class SecretFile
{
    private const UnixFileMode Own = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Refuses a file that cannot be, before there is a secret to write.</summary>
    /// <exception cref="CommandException">Its folder is not there, or it is a folder itself.</exception>
    public static void Check(string path)
    {
        string whole = Path.GetFullPath(path);
        if (Directory.Exists(whole))
            throw new CommandException(ExitCode.Failed, $"'{path}' is a folder; a file is wanted.");
        if (!Directory.Exists(Path.GetDirectoryName(whole)))
            throw new CommandException(ExitCode.Failed, $"The folder of '{path}' is not there.");
    }

    /// <summary>Writes it in one step: who reads the file finds the old secret or the new one, whole.</summary>
    /// <exception cref="CommandException">It cannot be written; the message says why.</exception>
    public static async Task WriteAsync(string path, string secret, CancellationToken cancellationToken)
    {
        string whole = Path.GetFullPath(path),
            draft = $"{whole}.{Path.GetRandomFileName()}";
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = Own;
        try
        {
            await using (var writer = new StreamWriter(draft, options))
                await writer.WriteLineAsync(secret.AsMemory(), cancellationToken);
            File.Move(draft, whole, overwrite: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            if (File.Exists(draft))
                File.Delete(draft);
            throw new CommandException(
                ExitCode.Failed,
                $"The token was made, and cannot be written to '{path}': {e.Message}"
            );
        }
    }
}
