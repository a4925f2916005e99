using System.Diagnostics;

namespace LightQ.IntegrationTests;

/// <summary>Waits for what another process or thread brings about and nothing announces.</summary>
internal static class Eventually
{
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(10);

    public static Task TrueAsync(Func<bool> condition, TimeSpan patience, Func<string> otherwise) =>
        TrueAsync(() => Task.FromResult(condition()), patience, otherwise);

    public static async Task TrueAsync(Func<Task<bool>> condition, TimeSpan patience, Func<string> otherwise)
    {
        using var timer = new PeriodicTimer(Poll);
        for (var watch = Stopwatch.StartNew(); !await condition(); await timer.WaitForNextTickAsync())
        {
            // What is told may cost more than the look.
            if (watch.Elapsed >= patience)
                Xunit.Assert.Fail(otherwise());
        }
    }
}
