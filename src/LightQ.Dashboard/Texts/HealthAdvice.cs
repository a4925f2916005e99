namespace LightQ.Dashboard.Texts;

/// <summary>What to do about a reason that <c>/healthz/ready</c> names.</summary>
internal static class HealthAdvice
{
    private const string Degraded = "ready, degraded: ";

    private static readonly (string Part, string Advice)[] Known =
    [
        (
            "failed",
            "Open the topic: it says why. Topics take messages again after the cause is mended and the broker is "
                + "restarted."
        ),
        (
            "damaged",
            "Open the topic for the ranges; consumers get a gap there. Check the disk, then look at "
                + "lightq journal verify."
        ),
        (
            "disk",
            "Free space under the data directory, truncate topics or shorten their retention. The broker goes on by "
                + "itself."
        ),
        ("catalog cannot be stored", "Check the disk under the data directory; do not restart before this is mended."),
        ("cluster's catalog", "Check the nats-servers of the cluster, and the network between them and this node."),
        ("positions", "Check the disk under the data directory. Groups go on; after a crash they get messages again."),
        ("audit log", "Check the disk under the data directory; changes made meanwhile are not in the audit log."),
        ("clock", "Look at what sets the machine's clock. Nothing is deleted by its age for that, and delays go on."),
        ("repaired", "Look through users, rights, tokens and topics, then confirm it: lightq server confirm-catalog."),
    ];

    /// <summary>The reasons, each with what to do.</summary>
    public static IReadOnlyList<(string Reason, string Advice)> Of(string health)
    {
        if (health is "" or "ready")
            return [];
        string[] reasons = health.StartsWith(Degraded, StringComparison.Ordinal)
            ? health[Degraded.Length..].Split(", ")
            : [health];
        return
        [
            .. reasons.Select(reason =>
                (
                    reason,
                    Known.FirstOrDefault(k => reason.Contains(k.Part, StringComparison.Ordinal)).Advice
                        ?? "lightq doctor says more."
                )
            ),
        ];
    }
}
