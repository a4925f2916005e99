using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>A backup's parts, from the control plane's messages.</summary>
internal static class BackupMapping
{
    /// <exception cref="LightQException">The message is not part of a backup.</exception>
    public static BackupPart ToPart(CreateBackupResponse response) =>
        response.PartCase switch
        {
            CreateBackupResponse.PartOneofCase.Begin
                when response.Begin is { Time: { } time, EstimatedBytes: var bytes } begin => new BackupBegin(
                begin.BrokerId,
                begin.Version,
                time.ToDateTimeOffset(),
                (long)Math.Min(bytes, long.MaxValue)
            ),
            CreateBackupResponse.PartOneofCase.File when response.File.Length <= long.MaxValue => new BackupFileBegin(
                response.File.Path,
                (long)response.File.Length
            ),
            CreateBackupResponse.PartOneofCase.Data => new BackupData(response.Data.Memory),
            CreateBackupResponse.PartOneofCase.End => new BackupEnd(
                [.. response.End.Topics.Select(TopicOf)],
                [.. response.End.SkippedTopics]
            ),
            var part => throw new LightQException(
                ErrorCode.UnexpectedFrame,
                $"The broker sent what is no part of a backup: {part}."
            ),
        };

    private static BackupTopicInfo TopicOf(BackupTopic topic) =>
        new(topic.Name, topic.Id, (int)Math.Min(topic.Partitions, int.MaxValue), topic.Durable)
        {
            Replicas = (int)Math.Clamp(topic.Replicas, 1, int.MaxValue),
        };
}
