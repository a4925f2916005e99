using System.Diagnostics;
using System.Text.Json;
using LightQ.Bench;
using LightQ.Bench.Roles;
using LightQ.Bench.Sessions;
using LightQ.IntegrationTests.Cli;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// One publisher and one subscriber at a steady rate, in a process of their own: the one that measures for <c>lightq
/// bench latency</c>.
/// </summary>
/// <param name="broker">The broker.</param>
/// <param name="topic">The topic.</param>
/// <param name="token">What it logs in with; null for nothing.</param>
internal sealed class HealthyLoad(FaultBroker broker, string topic, string? token = null) : IDisposable
{
    private const int Rate = 1_000,
        WarmUpMessages = Rate / 2;

    private readonly Process _role = LightQTool.Start(null, "bench-role", "latency");

    /// <summary>Half a second that is not measured, then as long as is asked for.</summary>
    /// <returns>What arrived, and how long it took from when its sending was due.</returns>
    public async Task<RoleMessage> RunAsync(TimeSpan duration)
    {
        var run = new RunSpec
        {
            Target = LoadTarget.LightQ,
            Endpoint =
                FormattableString.Invariant($"lightq://127.0.0.1:{broker.DataPort}?control={broker.ControlPort}")
                + (token is null ? "" : $"&token={token}"),
            Topic = topic,
            Size = 100,
            Messages = WarmUpMessages + (long)(Rate * duration.TotalSeconds),
            WarmUpMessages = WarmUpMessages,
            Rate = Rate,
            Api = LoadApi.Batch,
        };
        await _role.StandardInput.WriteLineAsync(JsonSerializer.Serialize(run, RunJson.Default.RunSpec));
        await _role.StandardInput.FlushAsync(TestContext.Current.CancellationToken);
        string? line = await _role.StandardOutput.ReadLineAsync(TestContext.Current.CancellationToken);
        Assert.True(line is not null, "the load's process ended");
        RoleMessage result = JsonSerializer.Deserialize(line, RoleJson.Default.RoleMessage)!;
        Assert.True(result.Event == RoleEvent.Done, result.Error);
        return result;
    }

    public void Dispose()
    {
        _role.Kill();
        _role.WaitForExit();
        _role.Dispose();
    }
}
