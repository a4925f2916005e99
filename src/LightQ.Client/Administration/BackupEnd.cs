namespace LightQ.Client.Administration;

/// <summary>The last part of a backup: everything was sent.</summary>
/// <param name="Topics">
/// The topics in it, by name. What was sent of others is to be forgotten: they were deleted meanwhile.
/// </param>
/// <param name="SkippedTopics">Topics of which a partition could not be opened and that are left out, by name.</param>
public sealed record BackupEnd(IReadOnlyList<BackupTopicInfo> Topics, IReadOnlyList<string> SkippedTopics) : BackupPart;
