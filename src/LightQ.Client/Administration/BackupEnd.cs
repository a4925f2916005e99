namespace LightQ.Client.Administration;

/// <summary>The last part of a backup: everything was sent.</summary>
/// <param name="Topics">
/// The topics in the backup, by name. Discard what was sent of other topics: they were deleted meanwhile.
/// </param>
/// <param name="SkippedTopics">
/// Topics that are left out because the broker could not open one of their partitions, by name.
/// </param>
public sealed record BackupEnd(IReadOnlyList<BackupTopicInfo> Topics, IReadOnlyList<string> SkippedTopics) : BackupPart;
