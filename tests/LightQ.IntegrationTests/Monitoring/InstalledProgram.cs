using System.Diagnostics;
using Xunit;

namespace LightQ.IntegrationTests.Monitoring;

/// <summary>Programs of Debian's package prometheus.</summary>
internal static class InstalledProgram
{
    /// <summary>Where a program is; the test is skipped where it is not installed.</summary>
    public static string Require(string name)
    {
        string? path = (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Select(folder => Path.Combine(folder, name))
            .FirstOrDefault(File.Exists);
        Assert.SkipWhen(path is null, $"There is no {name} in the PATH (Debian's package prometheus).");
        return path!;
    }

    /// <summary>Runs one to its end.</summary>
    public static async Task<(int ExitCode, string Output)> RunAsync(string path, params string[] arguments)
    {
        using var process = Process.Start(
            new ProcessStartInfo(path, arguments) { RedirectStandardOutput = true, RedirectStandardError = true }
        )!;
        Task<string> errors = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        string output = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        return (process.ExitCode, output + await errors);
    }
}
