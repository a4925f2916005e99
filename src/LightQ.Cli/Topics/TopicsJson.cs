using System.Text.Json.Serialization;
using LightQ.Cli.Output;

namespace LightQ.Cli.Topics;

/// <summary>What the topic commands write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(TopicView))]
[JsonSerializable(typeof(TopicView[]))]
[JsonSerializable(typeof(EnsureView))]
[JsonSerializable(typeof(ReplicateView))]
[JsonSerializable(typeof(TruncateView))]
[JsonSerializable(typeof(TruncateView[]))]
[JsonSerializable(typeof(DeletedView))]
internal sealed partial class TopicsJson : JsonSerializerContext;
