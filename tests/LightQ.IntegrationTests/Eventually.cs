using System.Diagnostics;

namespace LightQ.IntegrationTests;

/// <summary>Waits for what another process or thread brings about and nothing announces.</summary>
internal static class Eventually
{
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(10);

    public static async Task TrueAsync(Func<bool> condition, TimeSpan patience, Func<string> otherwise)
    {
        using var timer = new PeriodicTimer(Poll);
        for (var watch = Stopwatch.StartNew(); !condition(); await timer.WaitForNextTickAsync())
            Xunit.Assert.True(watch.Elapsed < patience, otherwise());
    }
}
