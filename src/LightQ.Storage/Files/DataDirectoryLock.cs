using System.Globalization;
using System.Text;

namespace LightQ.Storage.Files;

/// <summary>
/// Holds a data directory for this process: the file <c>LOCK</c>, locked by the operating system until disposed or the
/// process ends.
/// </summary>
public sealed class DataDirectoryLock : IDisposable
{
    /// <summary>The lock file's name.</summary>
    public const string FileName = "LOCK";

    private readonly FileStream _file;

    private DataDirectoryLock(string directory, FileStream file)
    {
        Directory = directory;
        _file = file;
    }

    /// <summary>The directory that is held.</summary>
    public string Directory { get; }

    /// <summary>Makes the directory if needed and takes it.</summary>
    /// <exception cref="DataDirectoryException">
    /// Another process (or this one) holds it, or it cannot be written; the message names it.
    /// </exception>
    public static DataDirectoryLock Acquire(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        string full = Path.GetFullPath(directory);
        string path = Path.Combine(full, FileName);
        FileStream? file = null;
        try
        {
            if (!System.IO.Directory.Exists(full))
                PlatformFileSystem.Choose().CreateDirectory(full);
            file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None, bufferSize: 1);
            file.SetLength(0);
            file.Write(Encoding.ASCII.GetBytes(Environment.ProcessId.ToString(CultureInfo.InvariantCulture) + "\n"));
            file.Flush();
            return new DataDirectoryLock(full, file);
        }
        catch (UnauthorizedAccessException error)
        {
            file?.Dispose();
            throw new DataDirectoryException(
                full,
                $"The data directory '{full}' is not writable for this user.",
                error
            );
        }
        catch (IOException error)
        {
            bool held = file is null && File.Exists(path);
            file?.Dispose();
            throw new DataDirectoryException(
                full,
                held
                    ? $"The data directory '{full}' is in use by another broker ('{path}' is locked)."
                    : $"The data directory '{full}' cannot be written: {error.Message}",
                error
            );
        }
    }

    /// <summary>Takes a directory in which a broker has worked, without changing anything in it.</summary>
    /// <returns>Null when there is no lock file: no broker was ever here, and nothing needs to be held.</returns>
    /// <exception cref="DataDirectoryException">A broker holds it.</exception>
    public static DataDirectoryLock? AcquireExisting(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        string full = Path.GetFullPath(directory);
        string path = Path.Combine(full, FileName);
        if (!File.Exists(path))
            return null;
        try
        {
            return new DataDirectoryLock(
                full,
                new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.None, bufferSize: 1)
            );
        }
        catch (IOException error)
        {
            throw new DataDirectoryException(
                full,
                $"The data directory '{full}' is in use by a broker ('{path}' is locked). Stop it first.",
                error
            );
        }
    }

    /// <summary>Gives the directory back.</summary>
    public void Dispose() => _file.Dispose();
}
