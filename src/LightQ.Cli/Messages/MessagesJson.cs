using System.Text.Json.Serialization;
using LightQ.Client.Administration;

namespace LightQ.Cli.Messages;

/// <summary>What publishing came to, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(PublishView))]
[JsonSerializable(typeof(RepublishResult))]
[JsonSerializable(typeof(CancelledView[]))]
internal sealed partial class MessagesJson : JsonSerializerContext;
