using System.Diagnostics;
using System.Globalization;
using System.Text;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// A file system of its own on a loop device: it can lose its power, turn read-only and be full, and no other does.
/// </summary>
/// <remarks>
/// Mounted with a loop device that goes with the mount. What a killed test run left mounted, the next one takes down.
/// The image is in memory where there is room: a sync then costs what the file system does for it, and there are more
/// of them before each fault.
/// </remarks>
internal sealed class LoopFileSystem : IDisposable
{
    private const string Prefix = "lightq-loop-";
    private const string Memory = "/dev/shm";

    private readonly string _image;
    private readonly string _options;

    private LoopFileSystem(string kind, string image, string path, string options)
    {
        _image = image;
        _options = options;
        Kind = kind;
        Path = path;
    }

    /// <summary>ext4 or xfs.</summary>
    public string Kind { get; }

    /// <summary>Where it is mounted.</summary>
    public string Path { get; }

    /// <summary>The device's name, such as loop0.</summary>
    public string Device => Mounts().Single(m => m.Path == Path).Device["/dev/".Length..];

    /// <summary>Makes and mounts one, or skips the test with the reason.</summary>
    /// <param name="kind">ext4 or xfs.</param>
    /// <param name="megabytes">Its size.</param>
    /// <param name="options">Mount options besides the loop device.</param>
    public static LoopFileSystem Create(string kind, int megabytes, string options = "noatime")
    {
        FaultRun.RequireTier("It mounts a file system of its own.");
        Assert.SkipUnless(
            OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess,
            "Mounting file systems needs Linux and root."
        );
        Assert.SkipUnless(File.Exists("/dev/loop-control"), "There are no loop devices.");
        foreach (string program in new[] { "mount", "umount", $"mkfs.{kind}" })
            Assert.SkipUnless(Exists(program), $"{program} is not installed.");
        TakeDownLeftOvers();
        string name = $"{Prefix}{Environment.ProcessId.ToString(CultureInfo.InvariantCulture)}-{Guid.NewGuid():N}";
        string path = System.IO.Path.Combine(System.IO.Path.GetTempPath(), name);
        string image = System.IO.Path.Combine(
            Directory.Exists(Memory) ? Memory : System.IO.Path.GetTempPath(),
            name + ".img"
        );
        using (FileStream file = File.Create(image))
            file.SetLength((long)megabytes << 20);
        Run($"mkfs.{kind}", kind == "xfs" ? ["-q", image] : ["-q", "-F", "-m", "0", image]);
        Directory.CreateDirectory(path);
        var made = new LoopFileSystem(kind, image, path, options);
        try
        {
            made.Mount();
        }
        catch
        {
            made.Dispose();
            throw;
        }
        return made;
    }

    /// <summary>Cuts the power: what was not synced is lost, and every later operation fails.</summary>
    /// <param name="flushLog">
    /// Whether the file system's own log still reaches the disk, as it may or may not do.
    /// </param>
    public void Cut(bool flushLog)
    {
        Assert.SkipUnless(Exists("xfs_io"), "xfs_io (xfsprogs) is not installed.");
        Run("xfs_io", ["-x", "-c", flushLog ? "shutdown -f" : "shutdown", Path]);
    }

    /// <summary>
    /// Makes ext4 believe that it has found an error: mounted with <c>errors=remount-ro</c>, it takes no more writes.
    /// </summary>
    public void TurnReadOnly() => File.WriteAllText($"/sys/fs/ext4/{Device}/trigger_fs_error", "1");

    /// <summary>Mounts it again, as a machine does that has its power back. Nobody may use it.</summary>
    public void Remount()
    {
        Run("umount", [Path]);
        Mount();
    }

    /// <summary>Runs a program to its end.</summary>
    /// <exception cref="InvalidOperationException">It failed.</exception>
    public static void Run(string program, string[] arguments)
    {
        using Process process = Process.Start(
            new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true, RedirectStandardError = true }
        )!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        string errors = process.StandardError.ReadToEnd();
        process.WaitForExit();
        if (process.ExitCode != 0)
        {
            throw new InvalidOperationException(
                $"{program} {string.Join(' ', arguments)} ended with {process.ExitCode}: {errors} {output.Result}"
            );
        }
    }

    public void Dispose()
    {
        if (Mounts().Any(m => m.Path == Path))
            Run("umount", ["-l", Path]);
        Directory.Delete(Path);
        File.Delete(_image);
    }

    private void Mount() => Run("mount", ["-o", $"loop,{_options}", _image, Path]);

    internal static bool Exists(string program) =>
        (Environment.GetEnvironmentVariable("PATH") + ":/usr/sbin:/sbin")
            .Split(':')
            .Any(d => File.Exists(System.IO.Path.Combine(d, program)));

    private static void TakeDownLeftOvers()
    {
        string prefix = System.IO.Path.Combine(System.IO.Path.GetTempPath(), Prefix);
        foreach (string path in Mounts().Select(m => m.Path).Where(p => p.StartsWith(prefix, StringComparison.Ordinal)))
        {
            string process = path[prefix.Length..].Split('-')[0];
            if (!Directory.Exists($"/proc/{process}"))
                Run("umount", ["-l", path]);
        }
    }

    private static IEnumerable<(string Device, string Path)> Mounts() =>
        File.ReadLines("/proc/mounts", Encoding.UTF8)
            .Select(line => line.Split(' '))
            .Select(fields => (fields[0], fields[1]));
}
