using System.Text;
using LightQ.Storage.Files;
using LightQ.Storage.Recovery;

namespace LightQ.Server.Security;

/// <summary>
/// The file <c>catalog-unconfirmed</c> of a data directory. It exists when a repair has lost changes of the catalog, so
/// users, rights and tokens that were removed may be back. As long as it exists, only admin may log in. Its
/// content is for people; only its existence counts.
/// </summary>
public static class CatalogConfirmation
{
    /// <summary>The file's name.</summary>
    public const string FileName = "catalog-unconfirmed";

    /// <summary>Whether an administrator has to confirm the catalog.</summary>
    /// <param name="directory">The data directory.</param>
    public static bool IsPending(string directory) => File.Exists(PathIn(directory));

    /// <summary>
    /// Requires a confirmation. The file is on the disk when this returns, so call it before the catalog is changed.
    /// </summary>
    /// <param name="directory">The data directory.</param>
    /// <param name="why">What the administrator has to confirm.</param>
    /// <exception cref="IOException">The file cannot be written.</exception>
    public static void Demand(string directory, string why) =>
        ReplacedFile.Write(PlatformFileSystem.Choose(), PathIn(directory), Encoding.UTF8.GetBytes(why));

    /// <summary>An administrator has confirmed it.</summary>
    /// <exception cref="IOException">The disk refuses; it may have to be confirmed once more.</exception>
    internal static void Give(string directory)
    {
        IFileSystem files = PlatformFileSystem.Choose();
        files.Delete(PathIn(directory));
        files.SyncDirectory(directory);
    }

    private static string PathIn(string directory) => Path.Combine(directory, FileName);
}
