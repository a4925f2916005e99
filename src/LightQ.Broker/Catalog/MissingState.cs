using LightQ.Storage.Inspection;
using LightQ.Storage.State;

namespace LightQ.Broker.Catalog;

/// <summary>What a start misses in a data directory and goes on without. What it must not miss, it refuses.</summary>
internal static class MissingState
{
    /// <summary>Says it.</summary>
    /// <param name="directory">The data directory.</param>
    /// <param name="catalog">The catalog that was read.</param>
    /// <param name="positions">The positions of groups that were read.</param>
    /// <param name="events">Gets it.</param>
    public static void Tell(string directory, TopicCatalog catalog, OffsetStore positions, IStorageEvents events)
    {
        if (catalog.Rebuilt is { } end)
            events.OnRebuilt(end);
        if (positions.Rebuilt is { } positionsEnd)
            events.OnRebuilt(positionsEnd);
        // The topics of a cluster come from elsewhere, and may be older than this node's groups.
        if (catalog.IsShared)
            return;
        if (positions.IsNew && catalog.Topics.Count > 0)
            events.OnRebuilt("the positions of groups, which were gone with the note of their end: each begins anew");
        foreach (string unknown in FindUnknown(Path.Combine(directory, "topics"), catalog))
            events.OnUnknownTopic(unknown);
    }

    /// <summary>
    /// Directories with messages of topics that the catalog does not know: it is an older one, or a kill came while the
    /// files of a deleted topic were removed.
    /// </summary>
    private static IEnumerable<string> FindUnknown(string topics, TopicCatalog catalog)
    {
        if (!Directory.Exists(topics))
            return [];
        var known = catalog.Topics.Select(t => t.Id).ToHashSet();
        return Directory
            .EnumerateDirectories(topics)
            .Where(d =>
                Guid.TryParseExact(Path.GetFileName(d), "N", out Guid id)
                && !known.Contains(id)
                && Directory.EnumerateDirectories(d).Any(JournalInspector.HasSegments)
            );
    }
}
