using System.Globalization;

namespace LightQ.Scheduling;

/// <summary>A step of the machine's clock, of which <see cref="SteadyClock"/> tells.</summary>
/// <param name="By">By how much it was set: forward above zero.</param>
/// <param name="State">What became of it.</param>
public sealed record ClockStep(TimeSpan By, ClockStepState State)
{
    /// <summary>By how much, for people: <c>+01:00:00</c>.</summary>
    public string Text =>
        (By < TimeSpan.Zero ? "-" : "+")
        + TimeSpan.FromSeconds(Math.Round(By.Duration().TotalSeconds)).ToString("c", CultureInfo.InvariantCulture);
}
