namespace LightQ.Client.Administration;

/// <summary>The result of a redrive.</summary>
/// <param name="Redriven">Messages that are redelivered to the group.</param>
/// <param name="Skipped">
/// Dead letters whose message the topic no longer holds, or the group has not settled. They stay in the dead-letter
/// topic.
/// </param>
public sealed record RedriveResult(long Redriven, long Skipped);
