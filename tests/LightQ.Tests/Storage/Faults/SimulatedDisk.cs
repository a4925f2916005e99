namespace LightQ.Tests.Storage.Faults;

/// <summary>A disk in memory that knows what a power cut would leave of it.</summary>
/// <remarks>One thread at a time; <see cref="SimulatedFileSystem"/> sees to that.</remarks>
internal sealed class SimulatedDisk
{
    private readonly List<SimulatedFile> _files = [];
    private readonly SimulatedDirectory _root;

    public SimulatedDisk()
        : this(new SimulatedDirectory()) { }

    private SimulatedDisk(SimulatedDirectory root) => _root = root;

    /// <summary>
    /// What is at a path: a <see cref="SimulatedDirectory"/>, or a <see cref="SimulatedFile"/>, or null.
    /// </summary>
    public object? Find(string path)
    {
        object? node = _root;
        foreach (string name in path.Split('/', StringSplitOptions.RemoveEmptyEntries))
            node = (node as SimulatedDirectory)?.Current.GetValueOrDefault(name);
        return node;
    }

    /// <summary>A file by the number that operations call it by.</summary>
    public SimulatedFile File(int number) => _files[number];

    /// <summary>The number of the file at a path.</summary>
    public int NumberOf(string path) => _files.IndexOf((SimulatedFile)Find(path)!);

    public void Apply(DiskOperation operation)
    {
        string name = Path.GetFileName(operation.Path);
        switch (operation.Kind)
        {
            case DiskOperationKind.CreateFile:
                var file = new SimulatedFile([]);
                _files.Add(file);
                Parent(operation.Path).Add(name, file);
                break;
            case DiskOperationKind.CreateDirectory:
                Parent(operation.Path).Add(name, new SimulatedDirectory());
                break;
            case DiskOperationKind.Rename:
                Parent(operation.Path).Rename(name, Path.GetFileName(operation.Target));
                break;
            case DiskOperationKind.Delete or DiskOperationKind.DeleteDirectory:
                Parent(operation.Path).Remove(name);
                break;
            case DiskOperationKind.SyncDirectory:
                ((SimulatedDirectory)Find(operation.Path)!).Sync();
                break;
            case DiskOperationKind.Write:
                File(operation.File).Write(operation.Position, operation.Data!);
                break;
            case DiskOperationKind.SetLength:
                File(operation.File).SetLength(operation.Position);
                break;
            case DiskOperationKind.Sync:
                File(operation.File).Sync();
                break;
            case DiskOperationKind.FailedSync:
                File(operation.File).FailSync();
                break;
        }
    }

    /// <summary>
    /// The disk as the next start finds it. When only the process was killed, what is not synced still is not.
    /// </summary>
    public SimulatedDisk Crash(CrashKind kind, Random random)
    {
        if (kind == CrashKind.All)
            return Clone();
        var files = new List<SimulatedFile>();
        var disk = new SimulatedDisk(Crash(_root, kind, random, files));
        disk._files.AddRange(files);
        return disk;
    }

    public SimulatedDisk Clone()
    {
        var copies = new Dictionary<object, object>();
        var disk = new SimulatedDisk((SimulatedDirectory)Copy(_root));
        disk._files.AddRange(_files.Select(file => (SimulatedFile)Copy(file)));
        return disk;

        object Copy(object node)
        {
            if (!copies.TryGetValue(node, out object? copy))
            {
                copies[node] = copy = node is SimulatedDirectory directory
                    ? directory.Clone(Copy)
                    : ((SimulatedFile)node).Clone();
            }

            return copy;
        }
    }

    private static SimulatedDirectory Crash(
        SimulatedDirectory directory,
        CrashKind kind,
        Random random,
        List<SimulatedFile> files
    )
    {
        var entries = new Dictionary<string, object>();
        foreach (
            (string name, object node) in directory
                .Crash(kind, random)
                .OrderBy(entry => entry.Key, StringComparer.Ordinal)
        )
        {
            if (node is SimulatedDirectory inner)
            {
                entries[name] = Crash(inner, kind, random, files);
                continue;
            }
            var file = new SimulatedFile(((SimulatedFile)node).Crash(kind, random));
            files.Add(file);
            entries[name] = file;
        }
        return new SimulatedDirectory(entries);
    }

    private SimulatedDirectory Parent(string path) => (SimulatedDirectory)Find(Path.GetDirectoryName(path)!)!;
}
