namespace LightQ.Client.Administration;

/// <summary>What <see cref="TopicsClient.EnsureAsync(TopicSpec, CancellationToken)"/> did.</summary>
/// <param name="Topic">The topic as it now is.</param>
/// <param name="Created">Whether it was created by this call.</param>
/// <param name="Changes">
/// What was changed, or with <see cref="EnsureMode.Create"/> what differs; empty for a new topic, and for one that
/// matched.
/// </param>
public sealed record EnsureTopicResult(TopicInfo Topic, bool Created, IReadOnlyList<TopicChange> Changes);
