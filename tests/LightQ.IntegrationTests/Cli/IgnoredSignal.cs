using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>
/// Signals that this process was told to ignore by who started it, which the processes it starts inherit: shells do
/// that for jobs in the background, and nohup.
/// </summary>
internal static class IgnoredSignal
{
    public const int HangUp = 1,
        Interrupt = 2;

    /// <summary>Skips the running test where a signal is ignored.</summary>
    public static void SkipIf(int signal) =>
        Assert.SkipWhen(
            IsIgnored(signal),
            $"Signal {signal} is ignored here, and what is started from here inherits that."
        );

    private static bool IsIgnored(int signal)
    {
        const string Field = "SigIgn:",
            Status = "/proc/self/status";
        if (!File.Exists(Status))
            return false;
        string mask = File.ReadLines(Status).First(line => line.StartsWith(Field, StringComparison.Ordinal))[
            Field.Length..
        ];
        return (Convert.ToUInt64(mask.Trim(), 16) & (1UL << (signal - 1))) != 0;
    }
}
