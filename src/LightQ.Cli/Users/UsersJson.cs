using System.Text.Json.Serialization;
using LightQ.Cli.Output;
using LightQ.Client.Administration;

namespace LightQ.Cli.Users;

/// <summary>What the commands for users, rights and tokens write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(UserInfo[]))]
[JsonSerializable(typeof(UserChangeView))]
[JsonSerializable(typeof(GrantView[]))]
[JsonSerializable(typeof(GrantChangeView))]
[JsonSerializable(typeof(TokenView))]
[JsonSerializable(typeof(TokenView[]))]
[JsonSerializable(typeof(DeletedView))]
internal sealed partial class UsersJson : JsonSerializerContext;
