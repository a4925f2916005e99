using System.Diagnostics;
using System.Globalization;
using System.Runtime;
using LightQ.Bench.Processes;
using LightQ.Cli.Options;
using LightQ.Server.Diagnosis;

namespace LightQ.Cli.Doctor;

/// <summary>The machine or container: descriptors, clock, memory, processors, kernel.</summary>
/// <param name="root">Where <c>proc</c> and <c>sys</c> are.</param>
internal sealed class SystemChecks(string root = "/")
{
    private const long LeastMemory = 512L << 20;
    private const int FewestDescriptors = 1024;
    private static readonly DateTime Earliest = new(2025, 1, 1, 0, 0, 0, DateTimeKind.Utc);
    private static readonly TimeSpan ClockLook = TimeSpan.FromMilliseconds(200),
        ClockJump = TimeSpan.FromMilliseconds(50);
    private static readonly string[] SlowClocks = ["hpet", "acpi_pm", "jiffies", "pit"];

    public IEnumerable<Finding> Run(int maxConnections)
    {
        yield return Descriptors(DescriptorLimit.Read(), maxConnections);
        yield return Clock();
        yield return ClockSource();
        yield return Memory(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes);
        yield return GarbageCollector(GCSettings.IsServerGC);
        if (Overcommit() is { } overcommit)
            yield return overcommit;
        if (Swap() is { } swap)
            yield return swap;
        if (HugePages() is { } hugePages)
            yield return hugePages;
        yield return Processors(Environment.ProcessorCount);
        if (Kernel() is { } kernel)
            yield return kernel;
    }

    /// <summary>Files may take half of the descriptors, so connections have the other half.</summary>
    public static Finding Descriptors(int limit, int maxConnections)
    {
        const string Check = "descriptor limit";
        string found = string.Create(
            CultureInfo.InvariantCulture,
            $"{limit:N0}, of which files may take half; DataPlane:MaxConnections is {maxConnections:N0}"
        );
        string fix = string.Create(
            CultureInfo.InvariantCulture,
            $"Allow {2L * maxConnections:N0} or more: LimitNOFILE= in the systemd unit, --ulimit nofile= in a "
                + $"container, or /etc/security/limits.conf."
        );
        return limit < FewestDescriptors ? Finding.Failed(Check, found, fix)
            : limit / 2 < maxConnections ? Finding.Warning(Check, found, fix)
            : Finding.Ok(Check, found);
    }

    public static Finding Memory(long available)
    {
        const string Check = "memory";
        string found = SizeText.Short(available) + " for this process, limits of a container included";
        return available < LeastMemory
            ? Finding.Warning(
                Check,
                found,
                "Give the machine or container 512 MiB or more, or keep topics few and their rings small (lightq "
                    + "topic create NAME --ring 1MiB)."
            )
            : Finding.Ok(Check, found);
    }

    public static Finding GarbageCollector(bool isServer)
    {
        const string Check = "garbage collector";
        return isServer
            ? Finding.Warning(
                Check,
                "server mode: a heap and a thread for each processor",
                "Unset DOTNET_gcServer: the broker allocates next to nothing per message, and server mode only takes "
                    + "memory."
            )
            : Finding.Ok(Check, "workstation mode, as it should be");
    }

    public Finding Processors(int count)
    {
        const string Check = "processors";
        string? quota = Read("sys/fs/cgroup/cpu.max");
        string[] parts = quota?.Split(' ') ?? [];
        double allowed =
            parts.Length == 2
            && long.TryParse(parts[0], NumberStyles.None, CultureInfo.InvariantCulture, out long runtime)
            && long.TryParse(parts[1], NumberStyles.None, CultureInfo.InvariantCulture, out long period)
            && period > 0
                ? (double)runtime / period
                : count;
        string found = string.Create(
            CultureInfo.InvariantCulture,
            $"{count} in use{(allowed < count ? $", a quota of {allowed:0.##}" : "")}"
        );
        return allowed < 1
            ? Finding.Warning(
                Check,
                found,
                "Raise the CPU quota to one processor or more: below it, the kernel stops the whole broker for parts "
                    + "of every period, which is seen as latency."
            )
            : Finding.Ok(Check, found);
    }

    public Finding? Overcommit() =>
        Read("proc/sys/vm/overcommit_memory") switch
        {
            null => null,
            "2" => Finding.Warning(
                "overcommit",
                "strict (vm.overcommit_memory = 2)",
                "Rings and mappings are reserved before they are used: set vm.overcommit_memory = 0, or raise "
                    + "vm.overcommit_ratio."
            ),
            { } mode => Finding.Ok("overcommit", $"vm.overcommit_memory = {mode}"),
        };

    public Finding? Swap()
    {
        long total = MemoryFigure("SwapTotal"),
            free = MemoryFigure("SwapFree");
        if (total < 0 || free < 0)
            return null;
        string swappiness = Read("proc/sys/vm/swappiness") ?? "?";
        string found =
            total == 0
                ? "none"
                : $"{SizeText.Short(total - free)} of {SizeText.Short(total)} in use, vm.swappiness = {swappiness}";
        return total - free > total / 10
            ? Finding.Warning(
                "swap",
                found,
                "The machine swaps: a ring that is read back from the disk is slower than a journal. Add memory, or "
                    + "set vm.swappiness = 1."
            )
            : Finding.Ok("swap", found);
    }

    public Finding? HugePages()
    {
        string? modes = Read("sys/kernel/mm/transparent_hugepage/enabled");
        if (modes is null)
            return null;
        string mode = modes.Split('[', ']') is [_, { } chosen, ..] ? chosen : modes;
        return mode == "always"
            ? Finding.Warning(
                "huge pages",
                "always",
                "Quiet topics take more memory than they use: echo madvise > "
                    + "/sys/kernel/mm/transparent_hugepage/enabled."
            )
            : Finding.Ok("huge pages", mode);
    }

    public Finding? Kernel()
    {
        string? release = Read("proc/sys/kernel/osrelease");
        if (release is null)
            return null;
        string number = string.Concat(release.TakeWhile(c => char.IsAsciiDigit(c) || c == '.')).Trim('.');
        bool isOld = Version.TryParse(number, out Version? version) && version < new Version(5, 14);
        return isOld
            ? Finding.Warning(
                "kernel",
                release,
                "Linux 5.14 or later fills mappings ahead (MADV_POPULATE_READ); before it, first reads of a segment "
                    + "wait for the disk."
            )
            : Finding.Ok("kernel", release);
    }

    public Finding ClockSource()
    {
        const string Check = "clock source";
        string resolution = string.Create(CultureInfo.InvariantCulture, $"{1e9 / Stopwatch.Frequency:0} ns");
        string? source = Read("sys/devices/system/clocksource/clocksource0/current_clocksource");
        if (source is null)
            return Finding.Ok(Check, $"resolution {resolution}");
        return SlowClocks.Contains(source)
            ? Finding.Warning(
                Check,
                $"{source}: every look at the clock is a slow system call",
                "Have the kernel use tsc or the hypervisor's clock: see "
                    + "/sys/devices/system/clocksource/clocksource0/available_clocksource."
            )
            : Finding.Ok(Check, $"{source}, resolution {resolution}");
    }

    private static Finding Clock()
    {
        const string Check = "clock";
        (DateTime wall, long steady) = (DateTime.UtcNow, Stopwatch.GetTimestamp());
        Thread.Sleep(ClockLook);
        TimeSpan jump = DateTime.UtcNow - wall - Stopwatch.GetElapsedTime(steady);
        return JudgeClock(Check, DateTime.UtcNow, jump, SystemCalls.IsClockSynchronized());
    }

    public static Finding JudgeClock(string check, DateTime now, TimeSpan jump, bool? isSynchronized)
    {
        string time = now.ToString("u", CultureInfo.InvariantCulture);
        const string Sync =
            "Have chrony, systemd-timesyncd or another NTP client keep it: retention, delays and tokens go by this "
            + "clock.";
        if (now < Earliest)
            return Finding.Failed(check, $"{time}, which cannot be", Sync);
        if (jump.Duration() > ClockJump)
        {
            return Finding.Warning(
                check,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{time}; it was set by {jump.TotalMilliseconds:0} ms while it was looked at"
                ),
                Sync
            );
        }

        return isSynchronized == false
            ? Finding.Warning(check, $"{time}; no service keeps it in step", Sync)
            : Finding.Ok(check, isSynchronized == true ? $"{time}, kept in step" : time);
    }

    private long MemoryFigure(string name)
    {
        string? line = Read("proc/meminfo")
            ?.Split('\n')
            .FirstOrDefault(l => l.StartsWith(name + ":", StringComparison.Ordinal));
        return
            line is not null
            && long.TryParse(
                line[(name.Length + 1)..].Replace("kB", "", StringComparison.Ordinal).Trim(),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long kilobytes
            )
            ? kilobytes << 10
            : -1;
    }

    /// <summary>
    /// The text of one of the kernel's files; null where there is none, or this user may not read it.
    /// </summary>
    private string? Read(string path)
    {
        try
        {
            string full = Path.Combine(root, path);
            return File.Exists(full) ? File.ReadAllText(full).Trim() : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
