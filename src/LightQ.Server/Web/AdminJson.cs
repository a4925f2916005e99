using System.Text.Json.Serialization;

namespace LightQ.Server.Web;

/// <summary>Source-generated serialisation of the JSON protocol.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    WriteIndented = true
)]
[JsonSerializable(typeof(AdminRequest))]
[JsonSerializable(typeof(AdminResponse))]
internal sealed partial class AdminJson : JsonSerializerContext;
