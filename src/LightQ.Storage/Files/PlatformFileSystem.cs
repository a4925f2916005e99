namespace LightQ.Storage.Files;

/// <summary>Chooses the file system of this machine.</summary>
internal static class PlatformFileSystem
{
    /// <summary>The environment variable that asks for the portable path where the tuned one would be taken.</summary>
    public const string PortableVariable = "LIGHTQ_PORTABLE_IO";

    /// <summary>System calls on 64-bit Linux, the runtime's files elsewhere.</summary>
    public static IFileSystem Choose() =>
        OperatingSystem.IsLinux()
        && Environment.Is64BitProcess
        && Environment.GetEnvironmentVariable(PortableVariable) != "1"
            ? new LinuxFileSystem()
            : new PortableFileSystem();
}
