namespace LightQ.IntegrationTests.Delivery.Workloads;

/// <summary>How a member takes messages and settles them.</summary>
internal enum SettleHabit
{
    /// <summary>A loop that completes each and waits for the answer.</summary>
    Complete,

    /// <summary>A loop that queues the completions.</summary>
    Queue,

    /// <summary>A loop over values.</summary>
    Typed,

    /// <summary>A loop over batches, completed whole.</summary>
    Batches,

    /// <summary>Fetches of some messages.</summary>
    Fetch,

    /// <summary>A processor.</summary>
    Processor,
}
