namespace LightQ.Client.Hosting;

/// <summary>A topic that a host sees to.</summary>
/// <param name="Spec">The topic as it should be.</param>
internal sealed record TopicRegistration(TopicSpec Spec);
