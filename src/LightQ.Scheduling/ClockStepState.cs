namespace LightQ.Scheduling;

/// <summary>What became of a step of the machine's clock.</summary>
public enum ClockStepState
{
    /// <summary>
    /// The broker goes on by its own time, until the step has lasted for <see cref="SteadyClock.Trust"/>.
    /// </summary>
    Seen,

    /// <summary>The machine's clock was set back to where it was before.</summary>
    Undone,

    /// <summary>It lasted: the broker's time is the machine's again. What is older than that keeps its age.</summary>
    Taken,
}
