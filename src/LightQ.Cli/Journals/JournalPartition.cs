namespace LightQ.Cli.Journals;

/// <summary>One partition's journal.</summary>
/// <param name="Directory">Where it is.</param>
/// <param name="TopicId">The topic's id, if the path says it.</param>
/// <param name="Name">The topic's name, if a catalog says it.</param>
/// <param name="Partition">The partition's number.</param>
/// <param name="Replicas">How many replicas the topic has, as its directory says; 0 for none.</param>
internal sealed record JournalPartition(string Directory, Guid? TopicId, string? Name, int Partition, int Replicas = 0)
{
    /// <summary>What people know it by.</summary>
    public string Title => Name ?? TopicId?.ToString("N") ?? Directory;
}
