using LightQ.Client;

namespace LightQ.Bench;

/// <summary>What kind of topic a run goes through, with messages of which size.</summary>
/// <param name="Kind">The topic's kind.</param>
/// <param name="Size">Bytes of every body.</param>
internal readonly record struct LoadShape(TopicKind Kind, int Size);
