using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using LightQ.Cli.Backups;
using LightQ.Cli.Commands;
using LightQ.Cli.Doctor;
using LightQ.Cli.Hosting;
using LightQ.Cli.Journals;
using LightQ.Cli.Tours;
using LightQ.Cli.Transfers;
using LightQ.Client.Administration;

namespace LightQ.Cli.Output;

/// <summary>Every JSON document the tool writes or reads.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ServerPorts))]
[JsonSerializable(typeof(QuickstartView))]
[JsonSerializable(typeof(TopicView))]
[JsonSerializable(typeof(TopicView[]))]
[JsonSerializable(typeof(EnsureView))]
[JsonSerializable(typeof(DeletedView))]
[JsonSerializable(typeof(GroupView))]
[JsonSerializable(typeof(GroupView[]))]
[JsonSerializable(typeof(GroupReasonView[]))]
[JsonSerializable(typeof(GroupResetView))]
[JsonSerializable(typeof(GroupChangeView))]
[JsonSerializable(typeof(RedriveResult))]
[JsonSerializable(typeof(UserInfo[]))]
[JsonSerializable(typeof(UserChangeView))]
[JsonSerializable(typeof(GrantView[]))]
[JsonSerializable(typeof(GrantChangeView))]
[JsonSerializable(typeof(TokenView))]
[JsonSerializable(typeof(TokenView[]))]
[JsonSerializable(typeof(TruncateView))]
[JsonSerializable(typeof(TruncateView[]))]
[JsonSerializable(typeof(TopicStatsView))]
[JsonSerializable(typeof(BrokerStatsView))]
[JsonSerializable(typeof(PublishView))]
[JsonSerializable(typeof(VerifyView))]
[JsonSerializable(typeof(RepairView[]))]
[JsonSerializable(typeof(StopProgress))]
[JsonSerializable(typeof(ReloadResult))]
[JsonSerializable(typeof(AuditReportView))]
[JsonSerializable(typeof(AuditLineView))]
[JsonSerializable(typeof(TransferResult[]))]
[JsonSerializable(typeof(BackupView))]
[JsonSerializable(typeof(DoctorView))]
internal sealed partial class CliJson : JsonSerializerContext
{
    /// <summary>The document in one line.</summary>
    public static string Write<T>(T value, JsonTypeInfo<T> type) => JsonSerializer.Serialize(value, type);
}
