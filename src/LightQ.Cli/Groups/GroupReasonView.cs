using System.Text.Json;
using LightQ.Client.Administration;

namespace LightQ.Cli.Groups;

/// <summary>Why a group gets nothing, as the tool shows it.</summary>
internal sealed record GroupReasonView(string Hold, int Partition, long? Connection, DateTimeOffset? Until, string Text)
{
    public static GroupReasonView From(GroupReason reason) =>
        new(
            JsonNamingPolicy.SnakeCaseLower.ConvertName(reason.Hold.ToString()),
            reason.Partition,
            reason.ConnectionId,
            reason.Until,
            reason.Text
        );
}
