using System.Text.Json.Serialization;

namespace LightQ.Cli.Messages;

/// <summary>What publishing came to, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(PublishView))]
internal sealed partial class MessagesJson : JsonSerializerContext;
