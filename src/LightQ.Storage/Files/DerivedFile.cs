namespace LightQ.Storage.Files;

/// <summary>
/// A file that is made of the segments again where it is missing or damaged: an index, a snapshot of producers. An
/// error of the disk there takes nothing out of service.
/// </summary>
internal static class DerivedFile
{
    /// <summary>Reads or writes one.</summary>
    /// <param name="path">The file.</param>
    /// <param name="work">What may be refused.</param>
    /// <param name="refused">Gets the file's name, and why.</param>
    /// <returns>False when the disk refused it.</returns>
    public static bool Try(string path, Action work, Action<string, Exception> refused)
    {
        try
        {
            work();
            return true;
        }
        catch (Exception error) when (CanBeDoneWithout(error))
        {
            refused(Path.GetFileName(path), error);
            return false;
        }
    }

    /// <summary>
    /// Not a full disk, for which the log waits as a whole, and no sync: what that lost need not be this file's.
    /// </summary>
    private static bool CanBeDoneWithout(Exception error) =>
        error is IOException or UnauthorizedAccessException
        && !StorageIOException.IsDiskFull(error)
        && error is not StorageIOException { IsSync: true };
}
