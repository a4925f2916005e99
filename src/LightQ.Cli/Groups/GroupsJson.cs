using System.Text.Json.Serialization;
using LightQ.Client.Administration;

namespace LightQ.Cli.Groups;

/// <summary>What the group commands write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(GroupView))]
[JsonSerializable(typeof(GroupView[]))]
[JsonSerializable(typeof(GroupReasonView[]))]
[JsonSerializable(typeof(GroupResetView))]
[JsonSerializable(typeof(GroupChangeView))]
[JsonSerializable(typeof(RedriveResult))]
[JsonSerializable(typeof(LetterResult[]))]
[JsonSerializable(typeof(RepublishedLetter))]
internal sealed partial class GroupsJson : JsonSerializerContext;
