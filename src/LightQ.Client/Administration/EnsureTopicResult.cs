namespace LightQ.Client.Administration;

/// <summary>What <see cref="TopicsClient.EnsureAsync"/> did.</summary>
/// <param name="Topic">The topic as it now is.</param>
/// <param name="Created">Whether it was created by this call.</param>
/// <param name="Changes">What was changed; empty for a new topic, and for one that matched already.</param>
public sealed record EnsureTopicResult(TopicInfo Topic, bool Created, IReadOnlyList<TopicChange> Changes);
