using System.Globalization;
using System.Text;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;

namespace LightQ.Storage.Inspection;

/// <summary>Keeps damaged files as they were, beside the journal.</summary>
internal sealed class Quarantine(string directory, IFileSystem files)
{
    public const string Name = JournalRecovery.Quarantine;

    private readonly string _path = Path.Combine(directory, Name);

    /// <summary>Copies a file, under a name that is free: an earlier copy is evidence too.</summary>
    public void Keep(string path)
    {
        files.CreateDirectory(_path);
        string name = Path.Combine(_path, Path.GetFileName(path));
        string free = name;
        for (int number = 1; files.Exists(free); number++)
            free = string.Create(CultureInfo.InvariantCulture, $"{name}.{number}");
        JournalRecovery.CopyFile(files, path, free);
        files.SyncDirectory(_path);
    }

    /// <summary>Writes what was found and done.</summary>
    /// <returns>The report's path.</returns>
    public string WriteReport(DateTimeOffset now, string text)
    {
        files.CreateDirectory(_path);
        string path = Path.Combine(
            _path,
            string.Create(CultureInfo.InvariantCulture, $"repair-{now.UtcDateTime:yyyyMMdd'T'HHmmss'Z'}.txt")
        );
        ReplacedFile.Write(files, path, Encoding.UTF8.GetBytes(text));
        return path;
    }
}
