using LightQ.Cli.Output;

namespace LightQ.Cli.Options;

/// <summary>A file that an option or a variable names: when it cannot be read, that is what was given wrong.</summary>
internal static class NamedFile
{
    /// <summary>Opens one.</summary>
    /// <param name="file">Where it is.</param>
    /// <param name="source">What names it, for the error.</param>
    /// <exception cref="CommandException">It cannot be opened.</exception>
    public static FileStream Open(string file, string source) =>
        Try(
            file,
            source,
            static f => new FileStream(
                f,
                FileMode.Open,
                FileAccess.Read,
                FileShare.ReadWrite,
                bufferSize: 0,
                FileOptions.SequentialScan
            )
        );

    /// <summary>Reads one that holds a secret, without the end of its line.</summary>
    /// <param name="file">Where it is.</param>
    /// <param name="source">What names it, for the error.</param>
    /// <exception cref="CommandException">It cannot be read.</exception>
    public static string ReadSecret(string file, string source) =>
        Try(file, source, static f => File.ReadAllText(f).TrimEnd('\r', '\n'));

    private static T Try<T>(string file, string source, Func<string, T> read)
    {
        try
        {
            return read(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new CommandException(
                ExitCode.Usage,
                $"The file '{file}' that {source} names cannot be read: {e.Message}",
                e
            );
        }
    }
}
