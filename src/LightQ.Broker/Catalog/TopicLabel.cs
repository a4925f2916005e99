using System.Text.Json;

namespace LightQ.Broker.Catalog;

/// <summary>
/// What a topic's directory on a node of a cluster says of itself, in its file <c>topic.json</c>: for people and the
/// tool, where the catalog is elsewhere. A broker reads nothing in it; that it is there says whose directory it is.
/// </summary>
/// <param name="Name">The topic's name.</param>
/// <param name="Replicas">How many replicas it has; 0 for none.</param>
public sealed record TopicLabel(string Name, uint Replicas)
{
    private const string FileName = "topic.json";

    /// <summary>Reads the label of a topic's directory; null when there is none that can be understood.</summary>
    /// <exception cref="IOException">It cannot be read.</exception>
    public static TopicLabel? Read(string directory)
    {
        string path = Path.Combine(directory, FileName);
        if (!File.Exists(path))
            return null;
        try
        {
            return
                JsonSerializer.Deserialize(File.ReadAllBytes(path), CatalogJson.Default.TopicLabel)
                    is { Name: not null } label
                ? label
                : null;
        }
        catch (JsonException)
        {
            return null;
        }
    }

    /// <summary>A label of a topic in a data directory; null when there is none.</summary>
    internal static string? FindIn(string dataDirectory)
    {
        string topics = Path.Combine(dataDirectory, "topics");
        return Directory.Exists(topics)
            ? Directory.EnumerateDirectories(topics).Select(t => Path.Combine(t, FileName)).FirstOrDefault(File.Exists)
            : null;
    }

    /// <summary>Writes it, unless it is there.</summary>
    internal void Write(string directory)
    {
        if (Read(directory) == this)
            return;
        string path = Path.Combine(directory, FileName),
            temporary = $"{path}.{Guid.NewGuid():N}"; // Partitions are opened at the same time.
        File.WriteAllBytes(temporary, JsonSerializer.SerializeToUtf8Bytes(this, CatalogJson.Default.TopicLabel));
        File.Move(temporary, path, overwrite: true);
    }
}
