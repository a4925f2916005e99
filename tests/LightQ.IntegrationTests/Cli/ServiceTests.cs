using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>
/// A broker as a service manager sees it: what it tells the socket of systemd, what it logs, and what signals do.
/// </summary>
[Trait("Tier", "C")]
public sealed class ServiceTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_service_manager_is_told_of_readiness_reloads_life_and_the_end()
    {
        FaultRun.RequireTier("It starts processes.");
        Assert.SkipWhen(OperatingSystem.IsWindows(), "There is no systemd.");
        IgnoredSignal.SkipIf(IgnoredSignal.HangUp);
        using var directory = new TemporaryDirectory();
        string path = Path.Combine(directory.Path, "notify"),
            file = Path.Combine(directory.Path, "lightq.json");
        await File.WriteAllTextAsync(file, """{ "Log": { "Format": "json" }, "DrainTimeout": "1s" }""", Cancelled);
        using var manager = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        manager.Bind(new UnixDomainSocketEndPoint(path));
        using Process process = Start(
            path,
            "server",
            "--config",
            file,
            "--data",
            Path.Combine(directory.Path, "data"),
            "--data-port",
            "0",
            "--control-port",
            "0",
            "--web-port",
            "0",
            "--output",
            "json"
        );
        try
        {
            JsonElement ports = JsonDocument
                .Parse((await process.StandardOutput.ReadLineAsync(Cancelled))!)
                .RootElement;
            string url = ports.GetProperty("connection_string").GetString()!;
            Task<string> log = process.StandardError.ReadToEndAsync(Cancelled);
            Assert.Contains("READY=1", await HeardAsync(manager, "READY=1"), StringComparison.Ordinal);
            await HeardAsync(manager, "WATCHDOG=1");

            await File.WriteAllTextAsync(
                file,
                """{ "Log": { "Format": "json", "Level": "information" }, "DrainTimeout": "1s", "Broker": { "JournalWriters": 3 } }""",
                Cancelled
            );
            await SignalAsync(process, "HUP");
            Assert.Contains("MONOTONIC_USEC=", await HeardAsync(manager, "RELOADING=1"), StringComparison.Ordinal);
            await HeardAsync(manager, "READY=1");
            string again = (await LightQTool.RunAsync(url, "server", "reload")).Succeeded().Text;
            Assert.Matches("JournalWriters.*needs a restart", again);
            Assert.DoesNotContain("Log:Level", again, StringComparison.Ordinal); // It is in force already.
            await File.WriteAllTextAsync(file, """{ "Log": { "Level": "loud" } }""", Cancelled);
            ToolResult refused = await LightQTool.RunAsync(url, "server", "reload", "--output", "json");
            Assert.True(refused.ExitCode == 78, $"{refused.ExitCode}: {refused.Text}{refused.Errors}");
            Assert.Contains(
                "Log:Level is 'loud'",
                JsonDocument.Parse(refused.Text).RootElement.GetProperty("refusal").GetString(),
                StringComparison.Ordinal
            );

            await SignalAsync(process, "TERM");
            Assert.Contains(
                "EXTEND_TIMEOUT_USEC=31000000",
                await HeardAsync(manager, "STOPPING=1"),
                StringComparison.Ordinal
            );
            await LightQTool.EndAsync(process);
            Assert.Equal(0, process.ExitCode);
            JsonElement[] lines =
            [
                .. (await log)
                    .Split('\n', StringSplitOptions.RemoveEmptyEntries)
                    .Select(l => JsonDocument.Parse(l).RootElement),
            ];
            Assert.Contains(
                lines,
                l =>
                    l.GetProperty("EventId").GetInt32() == 2045
                    && l.GetProperty("State").GetProperty("Key").GetString() == "Log:Level"
            );
            // At its start the level was warning.
            Assert.DoesNotContain(lines, l => l.GetProperty("EventId").GetInt32() == 2001);
            Assert.Contains(lines, l => l.GetProperty("EventId").GetInt32() == 2003); // Information, after the reload.
        }
        finally
        {
            if (!process.HasExited)
                process.Kill(entireProcessTree: true);
        }
    }

    private static Process Start(string notify, params string[] arguments)
    {
        var start = new ProcessStartInfo(LightQTool.Command[0], [.. LightQTool.Command.Skip(1), .. arguments])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["NOTIFY_SOCKET"] = notify;
        start.Environment["WATCHDOG_USEC"] = "400000";
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return Process.Start(start)!;
    }

    private static async Task SignalAsync(Process process, string signal)
    {
        using Process kill = Process.Start(
            "kill",
            [$"-{signal}", process.Id.ToString(System.Globalization.CultureInfo.InvariantCulture)]
        );
        await LightQTool.EndAsync(kill);
    }

    /// <summary>The next datagram that begins so; those of the watchdog come between.</summary>
    private static async Task<string> HeardAsync(Socket manager, string beginning)
    {
        byte[] buffer = new byte[1024];
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        patience.CancelAfter(TimeSpan.FromSeconds(30));
        while (true)
        {
            int length = await manager.ReceiveAsync(buffer, patience.Token);
            string text = Encoding.UTF8.GetString(buffer, 0, length);
            if (text.StartsWith(beginning, StringComparison.Ordinal))
                return text;
            Assert.StartsWith("WATCHDOG=1", text, StringComparison.Ordinal);
        }
    }
}
