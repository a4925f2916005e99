using LightQ.Client.Administration;

namespace LightQ.Client.Hosting;

/// <summary>A topic that a host sees to.</summary>
/// <param name="Spec">The topic as it should be.</param>
/// <param name="ClientKey">The key of the client; null for the one without.</param>
/// <param name="Mode">What to do with one that is otherwise.</param>
internal sealed record TopicRegistration(TopicSpec Spec, object? ClientKey, EnsureMode Mode);
