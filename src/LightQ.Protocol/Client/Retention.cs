namespace LightQ.Client;

/// <summary>How long a durable topic keeps its messages, beside its limits by age and size.</summary>
public enum Retention : byte
{
    /// <summary>As it is; of a new topic <see cref="Keep"/>.</summary>
    Default = 0,

    /// <summary>Until a limit by age or size says otherwise, and without one for ever.</summary>
    Keep = 1,

    /// <summary>
    /// Until all groups of the topic have settled them, or a limit by age or size says so earlier. Whole segments go;
    /// without a group nothing does.
    /// </summary>
    Settled = 2,
}
