using LightQ.Cli.Doctor;
using LightQ.Server.Diagnosis;
using Xunit;

namespace LightQ.Tests.Cli.Doctor;

/// <summary>What the doctor makes of machines, of which only files are there.</summary>
public sealed class SystemChecksTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("lightq-doctor-").FullName;

    [Theory]
    [InlineData(65_536, CheckResult.Ok)]
    [InlineData(40_000, CheckResult.Ok)]
    [InlineData(39_999, CheckResult.Warning)]
    [InlineData(1024, CheckResult.Warning)]
    [InlineData(1023, CheckResult.Failed)]
    public void Half_of_the_descriptors_must_do_for_the_connections(int limit, object result) =>
        Expect((CheckResult)result, SystemChecks.Descriptors(limit, maxConnections: 20_000), "40,000");

    [Fact]
    public void A_quota_below_one_processor_is_a_warning()
    {
        Assert.Equal(CheckResult.Ok, new SystemChecks(_root).Processors(4).Result);
        Put("sys/fs/cgroup/cpu.max", "max 100000");
        Assert.Equal("4 in use", new SystemChecks(_root).Processors(4).Found);
        Put("sys/fs/cgroup/cpu.max", "150000 100000");
        Assert.Equal("4 in use, a quota of 1.5", new SystemChecks(_root).Processors(4).Found);
        Put("sys/fs/cgroup/cpu.max", "50000 100000");
        Expect(CheckResult.Warning, new SystemChecks(_root).Processors(4), "quota");
    }

    [Fact]
    public void Strict_overcommit_huge_pages_always_and_a_used_swap_are_warnings()
    {
        var checks = new SystemChecks(_root);
        Assert.Null(checks.Overcommit());
        Assert.Null(checks.HugePages());
        Assert.Null(checks.Swap());
        Put("proc/sys/vm/overcommit_memory", "1");
        Put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
        Put("proc/meminfo", "MemTotal:       16000000 kB\nSwapTotal:       8000000 kB\nSwapFree:        7900000 kB\n");
        Assert.Equal(CheckResult.Ok, checks.Overcommit()!.Result);
        Assert.Equal(("madvise", CheckResult.Ok), (checks.HugePages()!.Found, checks.HugePages()!.Result));
        Assert.Equal(CheckResult.Ok, checks.Swap()!.Result);
        Put("proc/sys/vm/overcommit_memory", "2");
        Put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never");
        Put("proc/meminfo", "SwapTotal:       8000000 kB\nSwapFree:        1000000 kB\n");
        Expect(CheckResult.Warning, checks.Overcommit()!, "vm.overcommit_memory");
        Expect(CheckResult.Warning, checks.HugePages()!, "madvise");
        Expect(CheckResult.Warning, checks.Swap()!, "swappiness");
    }

    [Theory]
    [InlineData("6.8.0-45-generic", CheckResult.Ok)]
    [InlineData("5.14.0", CheckResult.Ok)]
    [InlineData("5.10.0-32-amd64", CheckResult.Warning)]
    [InlineData("4.18.0-553.el8_10.x86_64", CheckResult.Warning)]
    [InlineData("something else", CheckResult.Ok)]
    public void Old_kernels_are_a_warning(string release, object result)
    {
        Put("proc/sys/kernel/osrelease", release + "\n");
        Assert.Equal((CheckResult)result, new SystemChecks(_root).Kernel()!.Result);
    }

    [Fact]
    public void Clocks_that_jump_that_nobody_keeps_or_that_are_slow_to_read_are_told()
    {
        DateTime now = new(2026, 5, 1, 0, 0, 0, DateTimeKind.Utc);
        Assert.Equal(CheckResult.Ok, SystemChecks.JudgeClock("clock", now, TimeSpan.FromMilliseconds(1), true).Result);
        Assert.Equal(CheckResult.Ok, SystemChecks.JudgeClock("clock", now, TimeSpan.Zero, null).Result);
        Expect(CheckResult.Warning, SystemChecks.JudgeClock("clock", now, TimeSpan.Zero, false), "NTP");
        Expect(CheckResult.Warning, SystemChecks.JudgeClock("clock", now, TimeSpan.FromSeconds(-3), true), "NTP");
        Expect(CheckResult.Failed, SystemChecks.JudgeClock("clock", DateTime.UnixEpoch, TimeSpan.Zero, true), "NTP");
        Put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
        Assert.Equal(CheckResult.Ok, new SystemChecks(_root).ClockSource().Result);
        Put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
        Expect(CheckResult.Warning, new SystemChecks(_root).ClockSource(), "tsc");
    }

    [Fact]
    public void Little_memory_and_the_server_collector_are_warnings()
    {
        Assert.Equal(CheckResult.Ok, SystemChecks.Memory(4L << 30).Result);
        Expect(CheckResult.Warning, SystemChecks.Memory(256L << 20), "512 MiB");
        Assert.Equal(CheckResult.Ok, SystemChecks.GarbageCollector(isServer: false).Result);
        Expect(CheckResult.Warning, SystemChecks.GarbageCollector(isServer: true), "DOTNET_gcServer");
    }

    public void Dispose() => Directory.Delete(_root, recursive: true);

    private static void Expect(CheckResult result, Finding finding, string inTheFix)
    {
        Assert.Equal(result, finding.Result);
        if (result != CheckResult.Ok)
            Assert.Contains(inTheFix, finding.Fix, StringComparison.Ordinal);
    }

    private void Put(string path, string text)
    {
        string full = Path.Combine(_root, path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        File.WriteAllText(full, text);
    }
}
