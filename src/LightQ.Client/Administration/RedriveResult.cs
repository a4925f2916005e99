namespace LightQ.Client.Administration;

/// <summary>What a redrive came to.</summary>
/// <param name="Redriven">Messages that the group gets again.</param>
/// <param name="Skipped">
/// Messages that the topic no longer holds, or that the group has not settled; they stay in the dead-letter topic.
/// </param>
public sealed record RedriveResult(long Redriven, long Skipped);
