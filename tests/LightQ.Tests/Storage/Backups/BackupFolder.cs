using LightQ.Storage.Backups;
using LightQ.Storage.State;
using Xunit;

namespace LightQ.Tests.Storage.Backups;

/// <summary>A backup of one journal in a temporary folder, as a broker and the command line would make it.</summary>
internal sealed class BackupFolder : IBackupSink, IDisposable
{
    public const string TopicId = "00112233445566778899aabbccddeeff";

    private readonly string _root = Directory.CreateTempSubdirectory("lightq-backup-").FullName;
    private readonly BackupWriter _writer;

    public BackupFolder() => _writer = BackupWriter.Create(Folder);

    public static BackupTopic Topic { get; } = new("orders", TopicId, 1, Durable: true);

    public string Folder => Path.Combine(_root, "backup");

    /// <summary>A data directory that does not exist yet.</summary>
    public string Data => Path.Combine(_root, "data");

    /// <summary>The journal's directory in the restored one.</summary>
    public string RestoredJournal => Path.Combine(Data, "topics", TopicId, "0");

    /// <summary>Called when a file begins.</summary>
    public Action<string> OnFile { get; set; } = static _ => { };

    public List<string> Paths { get; } = [];

    public BackupWriter Writer => _writer;

    public ValueTask BeginFileAsync(string path, long length, CancellationToken cancellationToken)
    {
        Paths.Add(path);
        OnFile(path);
        return _writer.BeginFileAsync(path, length, cancellationToken);
    }

    public ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken) =>
        _writer.WriteAsync(bytes, cancellationToken);

    public Task<bool> TryCopyAsync(JournalSnapshot snapshot) =>
        snapshot.TryCopyAsync($"topics/{TopicId}/0", this, new byte[1000], CancellationToken.None);

    /// <summary>Adds what else a backup has, and the manifest.</summary>
    public async Task<BackupManifest> CompleteAsync(params BackupTopic[] topics)
    {
        foreach (string directory in new[] { "catalog", "groups" })
        {
            await _writer.WriteFileAsync(
                $"{directory}/{RecordJournal.FirstFileName}",
                RecordJournal.EncodeFile(["record"u8.ToArray()]),
                CancellationToken.None
            );
        }

        BackupTopic[] kept = topics.Length == 0 ? [Topic] : topics;
        _writer.KeepOnly(kept);
        var manifest = new BackupManifest
        {
            Format = 1,
            BrokerId = TopicId,
            Version = "1",
            Time = DateTimeOffset.UnixEpoch,
            Topics = kept,
            Files = _writer.Finish(),
        };
        _writer.Complete(manifest);
        return manifest;
    }

    public BackupManifest Restore(Action<string>? progress = null) =>
        BackupRestore.Run(Folder, Data, progress, TestContext.Current.CancellationToken);

    public BackupManifest Verify() =>
        BackupVerification.Verify(Folder, cancellationToken: TestContext.Current.CancellationToken);

    public void Dispose()
    {
        _writer.Dispose();
        Directory.Delete(_root, recursive: true);
    }
}
