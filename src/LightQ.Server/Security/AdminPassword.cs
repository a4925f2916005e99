using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Security;

/// <summary>
/// The file <c>admin-password</c> of a data directory: the password of the user admin and nothing else.
/// </summary>
internal static class AdminPassword
{
    /// <summary>The file's name.</summary>
    public const string FileName = "admin-password";

    /// <summary>One with fewer characters is easily guessed.</summary>
    public const int ShortPassword = 8;

    private const int PasswordBytes = 32;
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Reads the password; the first time, makes one.</summary>
    /// <exception cref="ServerStartException">The file is empty or cannot be read.</exception>
    public static string ReadOrCreate(string directory, ILogger logger) =>
        Read(directory, logger) ?? Create(directory, logger);

    /// <summary>Reads the password; null where there is no file.</summary>
    /// <exception cref="ServerStartException">The file is empty or cannot be read.</exception>
    public static string? Read(string directory, ILogger logger)
    {
        string path = Path.Combine(directory, FileName);
        try
        {
            if (!File.Exists(path))
                return null;
            if (
                !OperatingSystem.IsWindows()
                && (File.GetUnixFileMode(path) & ~(OwnerOnly | UnixFileMode.UserExecute)) != 0
            )
            {
                ServerLog.PasswordReadable(logger, path);
            }
            string password = File.ReadAllText(path).Trim();
            if (password.Length is > 0 and < ShortPassword)
                ServerLog.PasswordShort(logger, path, ShortPassword);
            return FindMistake(password) is not { } mistake
                ? password
                : throw new ServerStartException(
                    ServerStartFailure.Configuration,
                    $"'{path}' {mistake}: write a password into it, or delete it to have a new one made."
                );
        }
        catch (UnauthorizedAccessException e)
        {
            throw Denied(path, e);
        }
    }

    /// <summary>What is wrong with a password; null when nothing is.</summary>
    public static string? FindMistake(string password) =>
        password.Length == 0 ? "is empty"
        : password.Any(char.IsControl) ? "has characters that are no text: it is damaged, or has more than one line"
        : null;

    /// <summary>Makes one, in a file that is not there yet.</summary>
    /// <exception cref="ServerStartException">The file cannot be written.</exception>
    public static string Create(string directory, ILogger logger)
    {
        string path = Path.Combine(directory, FileName);
        string password = Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(PasswordBytes));
        try
        {
            Write(path, password);
        }
        catch (UnauthorizedAccessException e)
        {
            throw Denied(path, e);
        }
        ServerLog.PasswordWritten(logger, path);
        return password;
    }

    /// <summary>
    /// Writes a file for the broker's user alone; under another name first, so that a crash leaves no half of it.
    /// </summary>
    public static void Write(string path, string text)
    {
        string temporary = path + ".new";
        File.Delete(temporary);
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = OwnerOnly;
        using (var file = new FileStream(temporary, options))
        {
            file.Write(Encoding.ASCII.GetBytes(text));
            file.Flush(flushToDisk: true);
        }
        File.Move(temporary, path, overwrite: true);
    }

    private static ServerStartException Denied(string path, UnauthorizedAccessException e) =>
        new(ServerStartFailure.AccessDenied, $"'{path}' cannot be read or written by this user: {e.Message}", e);
}
