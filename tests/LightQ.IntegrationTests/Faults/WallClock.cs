using System.Globalization;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// The wall clock of processes that are started with its variables: it can be set while they run. Their monotonic clock
/// goes on as it does.
/// </summary>
internal sealed class WallClock
{
    private readonly string _file;

    /// <param name="directory">Where it keeps what time it is.</param>
    public WallClock(string directory)
    {
        _file = Path.Combine(directory, "clock");
        Set(TimeSpan.Zero);
    }

    /// <summary>The environment of such a process.</summary>
    public IEnumerable<(string Name, string Value)> Variables =>
        [
            ("LD_PRELOAD", Library!),
            ("FAKETIME_TIMESTAMP_FILE", _file),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];

    private static string? Library { get; } =
        Directory.Exists("/usr/lib")
            ? Directory
                .EnumerateDirectories("/usr/lib", "*-linux-*")
                .Select(d => Path.Combine(d, "faketime", "libfaketimeMT.so.1"))
                .FirstOrDefault(File.Exists)
            : null;

    /// <summary>Skips the running test where clocks cannot be set.</summary>
    public static void Require() =>
        Assert.SkipUnless(Library is not null, "libfaketime (Debian's package of that name) is not installed.");

    /// <summary>Sets it so much ahead of this machine's.</summary>
    public void Set(TimeSpan ahead)
    {
        string made = _file + ".new";
        File.WriteAllText(made, ahead.TotalSeconds.ToString("+0;-0", CultureInfo.InvariantCulture) + "\n");
        File.Move(made, _file, overwrite: true); // A process never sees half of it.
    }
}
