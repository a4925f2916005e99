// Unsafe: system calls take the address of a bit mask.
using System.Runtime.InteropServices;

namespace LightQ.Bench.InProcess;

/// <summary>Binds threads to CPUs, on Linux.</summary>
internal static unsafe partial class ThreadAffinity
{
    private const int Words = 16; // 1,024 CPUs, what glibc's cpu_set_t holds.
    private const int WordBits = 64;

    /// <summary>The CPUs that this thread may use, in order.</summary>
    public static IReadOnlyList<int> Allowed()
    {
        ulong* mask = stackalloc ulong[Words];
        new Span<ulong>(mask, Words).Clear();
        if (!OperatingSystem.IsLinux() || GetAffinity(0, Words * sizeof(ulong), mask) != 0)
            return [.. Enumerable.Range(0, Environment.ProcessorCount)];
        var cpus = new List<int>();
        for (int cpu = 0; cpu < Words * WordBits; cpu++)
        {
            if ((mask[cpu / WordBits] >> (cpu % WordBits) & 1) != 0)
                cpus.Add(cpu);
        }
        return cpus;
    }

    /// <summary>Keeps the calling thread on one CPU.</summary>
    /// <returns>False where the system cannot, or refuses.</returns>
    public static bool TryPin(int cpu)
    {
        ulong* mask = stackalloc ulong[Words];
        new Span<ulong>(mask, Words).Clear();
        mask[cpu / WordBits] = 1UL << (cpu % WordBits);
        return OperatingSystem.IsLinux() && SetAffinity(0, Words * sizeof(ulong), mask) == 0;
    }

    [LibraryImport("libc", EntryPoint = "sched_getaffinity")]
    private static partial int GetAffinity(int thread, nuint bytes, ulong* mask);

    [LibraryImport("libc", EntryPoint = "sched_setaffinity")]
    private static partial int SetAffinity(int thread, nuint bytes, ulong* mask);
}
