using System.Text.Json;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>Which cluster a data directory belongs to, in its file <c>cluster.json</c>.</summary>
/// <param name="ClusterId">The cluster's id, as its catalog has it.</param>
/// <param name="Cluster">Its name.</param>
/// <param name="Node">The node's name, under which the catalog has the topics of this directory.</param>
internal sealed record ClusterMembership(Guid ClusterId, string Cluster, string Node)
{
    /// <summary>The file's name.</summary>
    public const string FileName = "cluster.json";

    private const string Advice =
        "It says which cluster the directory belongs to: put it back, or write "
        + "{\"ClusterId\":ID,\"Cluster\":NAME,\"Node\":NAME} into it.";

    /// <summary>Reads the file; null where there is none.</summary>
    /// <exception cref="DataDirectoryException">
    /// It is damaged, or gone: the directory would be taken for that of a broker alone, or join anew.
    /// </exception>
    public static ClusterMembership? Read(string directory)
    {
        string path = Path.Combine(directory, FileName);
        if (!File.Exists(path))
        {
            return TopicLabel.FindIn(directory) is { } label
                ? throw new DataDirectoryException(
                    directory,
                    $"The file '{path}' is gone, and '{label}' is that of a cluster's node. {Advice}",
                    new FileNotFoundException(path)
                )
                : null;
        }
        try
        {
            return
                JsonSerializer.Deserialize(File.ReadAllBytes(path), CatalogJson.Default.ClusterMembership)
                    is { Cluster: not null, Node: not null } found
                ? found
                : throw new JsonException("it is empty");
        }
        catch (JsonException e)
        {
            throw new DataDirectoryException(directory, $"The file '{path}' is damaged: {e.Message} {Advice}", e);
        }
    }

    /// <summary>Refuses the directory of a cluster's node to a broker without a cluster.</summary>
    /// <exception cref="DataDirectoryException">It is one.</exception>
    public static void ThrowIfMember(string directory)
    {
        if (Read(directory) is not { } found)
            return;
        throw new DataDirectoryException(
            directory,
            $"The data directory '{directory}' belongs to the node '{found.Node}' of the cluster '{found.Cluster}', "
                + $"which has its topics and users: set Cluster:Engine.",
            new InvalidOperationException(FileName)
        );
    }

    /// <summary>Refuses a directory that belongs to this, because of what was found.</summary>
    /// <param name="directory">The directory.</param>
    /// <param name="found">What was found; goes on behind "and".</param>
    public DataDirectoryException Refuse(string directory, string found) =>
        new(
            directory,
            $"The data directory '{directory}' belongs to the node '{Node}' of the cluster '{Cluster}', {ClusterId}, "
                + $"and {found}",
            new InvalidOperationException(FileName)
        );

    /// <summary>Writes the file.</summary>
    public void Write(string directory)
    {
        string path = Path.Combine(directory, FileName),
            temporary = path + ".new";
        using (var file = new FileStream(temporary, FileMode.Create, FileAccess.Write))
        {
            file.Write(JsonSerializer.SerializeToUtf8Bytes(this, CatalogJson.Default.ClusterMembership));
            file.Flush(flushToDisk: true);
        }
        File.Move(temporary, path, overwrite: true);
    }

    /// <summary>Compares a directory with the cluster whose catalog was read.</summary>
    /// <param name="directory">The directory, for the message.</param>
    /// <param name="before">What it belongs to; null for nothing yet.</param>
    /// <param name="options">The cluster and node that it is to belong to.</param>
    /// <param name="tables">The catalog.</param>
    /// <exception cref="DataDirectoryException">It belongs to another.</exception>
    /// <returns>What it belongs to from now on.</returns>
    public static ClusterMembership Check(
        string directory,
        ClusterMembership? before,
        Replication.ReplicationOptions options,
        CatalogTables tables
    )
    {
        string? mistake = (before, tables.Cluster!) switch
        {
            (null, _) => null,
            var (known, found) when known.ClusterId != found.Id =>
                $"the catalog of the cluster '{options.Cluster}' is that of another cluster, {found.Id}, made "
                    + $"{found.Created:u}: Cluster:Engine or Cluster:Name is another than before, or the cluster was "
                    + $"begun anew. Set them to those of {known.ClusterId}; or, to join {found.Id}, start with an "
                    + "empty data directory. This one stays as it is",
            var (known, _) when known.Node != options.Node && tables.Topics.Any(t => t.Node == known.Node) =>
                $"Cluster:Node is '{options.Node}', and the catalog has topics on '{known.Node}', whose messages are "
                    + $"here: set Cluster:Node to it, or delete those topics",
            _ => null,
        };
        if (mistake is not null)
            throw before!.Refuse(directory, $"{mistake}.");
        return new ClusterMembership(tables.Cluster!.Id, options.Cluster, options.Node);
    }
}
