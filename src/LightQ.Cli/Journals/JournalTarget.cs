using System.Globalization;
using LightQ.Broker.Catalog;
using LightQ.Broker.Groups;
using LightQ.Cli.Output;
using LightQ.Protocol;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;

namespace LightQ.Cli.Journals;

/// <summary>
/// What a path names: a data directory, its catalog or groups, a topic's directory in it, or one partition's; held
/// against a broker while it is looked at.
/// </summary>
internal sealed class JournalTarget : IDisposable
{
    private const string Catalog = "catalog";
    private const string Groups = "groups";
    private const string Topics = "topics";

    private readonly DataDirectoryLock? _lock;
    private readonly Lazy<KnownOffsets?> _known;

    private JournalTarget(string path, string? root, DataDirectoryLock? heldLock)
    {
        Path = path;
        Root = root;
        _lock = heldLock;
        _known = new Lazy<KnownOffsets?>(() => root is null ? null : KnownOffsets.Read(root));
        Cluster = root is null ? null : CatalogReader.FindCluster(root);
        if (root is not null && JournalInspector.WasMade(System.IO.Path.Combine(root, Catalog)))
            KnownTopics = CatalogReader.ReadDurableTopics(System.IO.Path.Combine(root, Catalog), out _);
        IsCatalogGone = root == path && CatalogReader.IsGone(path);
        string[] records = root is null
            ? []
            :
            [
                .. new[] { Catalog, Groups }
                    .Select(n => System.IO.Path.Combine(root, n))
                    .Where(JournalInspector.WasMade),
            ];
        Records = root == path ? records : [.. records.Where(r => r == path)];
        Partitions =
        [
            .. (Records.Count > 0 && root != path ? [] : Find(path, root == path))
                .OrderBy(p => p.Name, StringComparer.Ordinal)
                .ThenBy(p => p.Partition),
        ];
    }

    /// <summary>The full path.</summary>
    public string Path { get; }

    /// <summary>The data directory that the path is or lies in; null for a copy elsewhere.</summary>
    public string? Root { get; }

    /// <summary>The node and the cluster that the data directory is of; null for that of a broker alone.</summary>
    public (string Node, string Cluster)? Cluster { get; }

    /// <summary>The durable topics that the catalog knows; null without a catalog.</summary>
    public IReadOnlyDictionary<Guid, (string Name, int Partitions)>? KnownTopics { get; }

    /// <summary>Whether the path is a data directory whose catalog is gone.</summary>
    public bool IsCatalogGone { get; }

    /// <summary>
    /// Directories of catalog and groups, when the path is a data directory; or the path, if it is one of them.
    /// </summary>
    public IReadOnlyList<string> Records { get; } = [];

    /// <summary>The catalog among them; null when it is none.</summary>
    public string? CatalogDirectory => Records.FirstOrDefault(r => System.IO.Path.GetFileName(r) == Catalog);

    public IReadOnlyList<JournalPartition> Partitions { get; }

    /// <summary>
    /// Durable topics of the catalog, or partitions of them, of which neither a checkpoint nor a segment is there, when
    /// the path is a data directory. The catalog of a cluster's node is the one from before it joined.
    /// </summary>
    public IEnumerable<string> MissingTopics =>
        Root != Path || Records.Count == 0 || KnownTopics is null || Cluster is not null
            ? []
            : KnownTopics.SelectMany(t => Missing(t.Key, t.Value.Name, t.Value.Partitions));

    /// <summary>
    /// What the positions of groups say of how far a partition's log had been durable; null for nothing.
    /// </summary>
    public Func<uint, long>? KnownBelow(JournalPartition partition) =>
        partition.TopicId is { } topic && _known.Value is { } known
            ? epoch => known.Below(topic, partition.Partition, epoch)
            : null;

    /// <exception cref="CommandException">The path is none of these.</exception>
    /// <exception cref="DataDirectoryException">A broker holds the data directory.</exception>
    public static JournalTarget Open(string path)
    {
        string full = System.IO.Path.TrimEndingDirectorySeparator(System.IO.Path.GetFullPath(path));
        if (!Directory.Exists(full))
            throw new CommandException(ExitCode.Failed, $"There is no directory '{full}'.");
        string? root = RootOf(full);
        DataDirectoryLock? held = root is null ? null : DataDirectoryLock.AcquireExisting(root);
        try
        {
            var target = new JournalTarget(full, root, held);
            return target.Partitions.Count > 0 || target.Records.Count > 0
                ? target
                : throw new CommandException(
                    ExitCode.Failed,
                    $"'{full}' is neither a data directory nor that of a durable topic or its partition."
                );
        }
        catch
        {
            held?.Dispose();
            throw;
        }
    }

    public void Dispose() => _lock?.Dispose();

    /// <summary>The data directory that holds a path; null for a copy that lies elsewhere.</summary>
    private static string? RootOf(string path)
    {
        string? at = path;
        for (int levels = 0; levels <= 3 && at is not null; levels++, at = System.IO.Path.GetDirectoryName(at))
        {
            if (
                Directory.Exists(System.IO.Path.Combine(at, Catalog))
                || File.Exists(System.IO.Path.Combine(at, DataDirectoryLock.FileName))
            )
            {
                return at;
            }
        }
        return null;
    }

    private IEnumerable<JournalPartition> Find(string path, bool isRoot)
    {
        if (isRoot)
        {
            string topics = System.IO.Path.Combine(path, Topics);
            return Directory.Exists(topics) ? Directory.GetDirectories(topics).SelectMany(PartitionsOf) : [];
        }
        return JournalInspector.IsJournal(path) ? [At(path)] : PartitionsOf(path);
    }

    private IEnumerable<JournalPartition> PartitionsOf(string topic) =>
        Directory
            .GetDirectories(topic)
            .Where(d =>
                int.TryParse(System.IO.Path.GetFileName(d), NumberStyles.None, CultureInfo.InvariantCulture, out _)
            )
            .Select(At);

    private IEnumerable<string> Missing(Guid id, string name, int partitions)
    {
        int[] missing =
        [
            .. Enumerable
                .Range(0, partitions)
                .Except(
                    Partitions
                        .Where(p => p.TopicId == id && JournalInspector.IsJournal(p.Directory))
                        .Select(p => p.Partition)
                ),
        ];
        return missing.Length == partitions ? [name] : missing.Select(p => new TopicAddress(name, p).ToString());
    }

    private JournalPartition At(string directory)
    {
        string above = System.IO.Path.GetDirectoryName(directory) ?? "",
            parent = System.IO.Path.GetFileName(above);
        var label = TopicLabel.Read(above);
        Guid? id = Guid.TryParseExact(parent, "N", out Guid parsed) ? parsed : null;
        string? name =
            id is { } known
            && KnownTopics is not null
            && KnownTopics.TryGetValue(known, out (string Name, int Partitions) found)
                ? found.Name
                : label?.Name;
        _ = int.TryParse(
            System.IO.Path.GetFileName(directory),
            NumberStyles.None,
            CultureInfo.InvariantCulture,
            out int partition
        );
        return new JournalPartition(directory, id, name, partition, (int)(label?.Replicas ?? 0));
    }
}
