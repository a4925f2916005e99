using System.Text.Json.Serialization;
using LightQ.Client.Administration;

namespace LightQ.Cli.Servers;

/// <summary>What the server commands write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(ServerPorts))]
[JsonSerializable(typeof(StopProgress))]
[JsonSerializable(typeof(ReloadResult))]
[JsonSerializable(typeof(SettingsView))]
internal sealed partial class ServersJson : JsonSerializerContext;
