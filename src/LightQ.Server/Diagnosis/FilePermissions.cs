namespace LightQ.Server.Diagnosis;

/// <summary>Who besides its owner may do what with a file. Windows has no such bits.</summary>
internal static class FilePermissions
{
    private const UnixFileMode OthersRead = UnixFileMode.GroupRead | UnixFileMode.OtherRead;
    private const UnixFileMode OthersWrite = UnixFileMode.GroupWrite | UnixFileMode.OtherWrite;

    public static bool IsReadByOthers(string path) => Has(path, OthersRead | OthersWrite);

    public static bool IsWrittenByOthers(string path) => Has(path, OthersWrite);

    /// <summary>Such as <c>0640</c>.</summary>
    public static string TextOf(string path) =>
        OperatingSystem.IsWindows() ? "" : "0" + Convert.ToString((int)File.GetUnixFileMode(path), 8);

    private static bool Has(string path, UnixFileMode mode) =>
        !OperatingSystem.IsWindows() && (File.GetUnixFileMode(path) & mode) != 0;
}
