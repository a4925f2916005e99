using System.Diagnostics;
using System.Globalization;
using Xunit;

namespace LightQ.IntegrationTests.Tls;

/// <summary><c>openssl s_client</c>: a client that shares nothing with .NET's.</summary>
internal static class OpenSsl
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    /// <summary>Skips the test where there is none.</summary>
    public static void Require()
    {
        try
        {
            using Process process = Process.Start(
                new ProcessStartInfo("openssl", ["version"]) { RedirectStandardOutput = true }
            )!;
            process.WaitForExit();
        }
        catch (System.ComponentModel.Win32Exception)
        {
            Assert.Skip("There is no openssl on this machine.");
        }
    }

    /// <summary>Shakes hands with a port and leaves.</summary>
    /// <returns>The exit code, and all that it said.</returns>
    public static async Task<(int Code, string Said)> ConnectAsync(int port, params string[] options)
    {
        var start = new ProcessStartInfo(
            "openssl",
            [
                "s_client",
                "-connect",
                string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{port}"),
                "-brief",
                .. options,
            ]
        )
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process process = Process.Start(start)!;
        process.StandardInput.Close();
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        patience.CancelAfter(Patience);
        try
        {
            Task<string> output = process.StandardOutput.ReadToEndAsync(patience.Token),
                errors = process.StandardError.ReadToEndAsync(patience.Token);
            await process.WaitForExitAsync(patience.Token);
            return (process.ExitCode, await output + await errors);
        }
        catch (OperationCanceledException)
        {
            process.Kill();
            throw;
        }
    }
}
