using LightQ.Storage.Backups;

namespace LightQ.Cli.Backups;

/// <summary>A backup that was made, verified or restored.</summary>
/// <param name="Folder">Its folder.</param>
/// <param name="BrokerId">The broker's id.</param>
/// <param name="Version">The broker's version.</param>
/// <param name="Time">The moment that it is of.</param>
/// <param name="Topics">How many topics it knows.</param>
/// <param name="DurableTopics">Of those, how many with their messages.</param>
/// <param name="Files">How many files it has.</param>
/// <param name="Bytes">Their bytes.</param>
/// <param name="Damaged">Partitions that were damaged on the broker, as <c>topics/ID/NUMBER</c>.</param>
/// <param name="SkippedTopics">
/// Topics that the broker could not open and that are left out; only when it is made.
/// </param>
/// <param name="Replicated">Topics that had replicas in their cluster, and have none when they are restored.</param>
/// <param name="Data">The data directory that was made of it; only when it is restored.</param>
internal sealed record BackupView(
    string Folder,
    string BrokerId,
    string Version,
    DateTimeOffset Time,
    int Topics,
    int DurableTopics,
    int Files,
    long Bytes,
    IReadOnlyList<string> Damaged,
    IReadOnlyList<string>? SkippedTopics = null,
    IReadOnlyList<BackupReplicas>? Replicated = null,
    string? Data = null
)
{
    public static BackupView Of(string folder, BackupManifest manifest) =>
        new(
            Path.GetFullPath(folder),
            manifest.BrokerId,
            manifest.Version,
            manifest.Time,
            manifest.Topics.Count,
            manifest.Topics.Count(t => t.Durable),
            manifest.Files.Count,
            manifest.Bytes,
            manifest.Damaged,
            Replicated: manifest.Topics.Any(t => t.Replicas > 1)
                ? [.. manifest.Topics.Where(t => t.Replicas > 1).Select(t => new BackupReplicas(t.Name, t.Replicas))]
                : null
        );
}
