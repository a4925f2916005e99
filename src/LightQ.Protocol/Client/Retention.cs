namespace LightQ.Client;

/// <summary>How long a durable topic keeps its messages, beside its limits by age and size.</summary>
public enum Retention : byte
{
    /// <summary>Leaves an existing topic as it is; means <see cref="Keep"/> for a new one.</summary>
    Default = 0,

    /// <summary>Keeps messages until a limit by age or size removes them, and for ever without one.</summary>
    Keep = 1,

    /// <summary>
    /// Keeps messages until all groups of the topic have settled them, or until a limit by age or size removes them.
    /// Whole segments are removed. Without a group, this setting removes nothing.
    /// </summary>
    Settled = 2,
}
