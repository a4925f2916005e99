using System.Net;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using LightQ.Broker;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Cli.Journals;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.IntegrationTests.Docs;
using LightQ.Protocol.Frames;
using LightQ.Server;
using LightQ.Server.Audit;
using LightQ.Server.Security;
using LightQ.Server.Tls;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Storage.Inspection;
using LightQ.Storage.Recovery;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// Each file of a data directory is removed, cut, zeroed, swapped for an older copy and made longer, after a clean stop
/// and after a kill. The table in docs/operate/reliability.md says what the start makes of it.
/// </summary>
public sealed class MissingStateTests
{
    private const int FirstMessages = 40,
        Messages = 60,
        MessageBytes = 8000;
    private const string Groupless = "topics without groups";
    private const string Begin = "<!-- begin: written by MissingStateTests -->\n",
        End = "<!-- end of missing state -->\n";

    private static readonly string[] Damages = ["removed", "cut", "zeroed", "older", "longer"];
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>
    /// What the table calls a file, and where it is: the last in order of those that fit. Names with a '+' are damaged
    /// together; a directory is removed, or swapped, as a whole.
    /// </summary>
    private static readonly (string Title, string Directory, string Pattern, int FromNewest)[] Files =
    [
        ("`catalog`", "", "catalog", 0),
        ("`catalog` and `catalog-end`", "", "catalog+catalog-end", 0),
        ("`catalog/*.seg`", "catalog", "*.seg", 0),
        ("`catalog-end`", "", "catalog-end", 0),
        ("`groups`", "", "groups", 0),
        ("`groups` and `groups-end`", "", "groups+groups-end", 0),
        ("`groups/*.seg`", "groups", "*.seg", 0),
        ("`groups-end`", "", "groups-end", 0),
        ("`broker-id`", "", "broker-id", 0),
        ("`topics/ID/N`", "topics", "", 0),
        ("the same, no group", Groupless, "", 0),
        ("newest segment", "topics", "*.seg", 0),
        ("the same, no group", Groupless, "*.seg", 0),
        ("segment before it", "topics", "*.seg", 1),
        ("`checkpoint`", "topics", "checkpoint", 0),
        ("`epochs`", "topics", "epochs", 0),
        ("`*.idx`", "topics", "*.idx", 0),
        ("`*.producers`", "topics", "*.producers", 0),
        ("`audit/audit-*.jsonl`", "audit", "*.jsonl", 0),
        ("`audit/head`", "audit", "head", 0),
        ("`admin-password`", "", "admin-password", 0),
        ("`catalog-unconfirmed`", "", "catalog-unconfirmed", 0),
        ("`tls-self-signed.crt`", "", "tls-self-signed.crt", 0),
        ("`tls-self-signed.key`", "", "tls-self-signed.key", 0),
    ];

    /// <summary>Files of the server, which the engine does not read.</summary>
    private static readonly string[] ServersFiles =
    [
        AdminPassword.FileName,
        CatalogConfirmation.FileName,
        SelfSignedCertificate.CertificateName,
        "tls-self-signed.key",
    ];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_start_makes_of_every_missing_state_what_the_table_says()
    {
        using var root = new TemporaryDirectory();
        (Guid topic, Guid groupless) = await MakeAsync(root);
        string[] stops = ["closed", "killed"];
        string[,,] cells = new string[stops.Length, Files.Length, Damages.Length];
        await Parallel.ForAsync(
            0,
            cells.Length,
            Cancelled,
            async (i, _) =>
            {
                (int stop, int file, int damage) = (
                    i / (Files.Length * Damages.Length),
                    i / Damages.Length % Files.Length,
                    i % Damages.Length
                );
                Guid of = Files[file].Directory == Groupless ? groupless : topic;
                cells[stop, file, damage] = await TryAsync(root.Path, of, stops[stop], Files[file], Damages[damage]);
            }
        );
        var table = new StringBuilder();
        for (int s = 0; s < stops.Length; s++)
        {
            table.Append(stops[s] == "closed" ? "| after a clean stop" : "| after a kill");
            table.Append(" | removed | cut | end zeroed | older copy | made longer |\n|---|---|---|---|---|---|\n");
            for (int f = 0; f < Files.Length; f++)
            {
                IEnumerable<string> row = Enumerable.Range(0, Damages.Length).Select(d => cells[s, f, d]);
                table.Append($"| {Files[f].Title} | {string.Join(" | ", row)} |\n");
            }
            table.Append('\n');
        }
        Check(table.ToString());
    }

    /// <summary>A broker's directory at three times: "older", "killed" and "closed".</summary>
    private static async Task<(Guid Topic, Guid Groupless)> MakeAsync(TemporaryDirectory root)
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                DataDirectory = root.File("broker"),
                Broker = o.Broker with { CheckpointInterval = TimeSpan.FromHours(1), OpenEnvironment = OpenUnsynced },
            }
        );
        var settings = new TopicSettings
        {
            Kind = Broker.Topics.TopicKind.Durable,
            MaxMessageBytes = 16 * 1024,
            SegmentBytes = 320 * 1024, // The least: each cell has a copy of its own.
        };
        Topic topic = server.Broker.CreateTopic("orders", settings),
            groupless = server.Broker.CreateTopic("groupless", settings);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Name = "till" },
            Cancelled
        );
        await using Producer other = await client.CreateProducerAsync("groupless", cancellationToken: Cancelled);
        await PublishAsync(producer, FirstMessages);
        await PublishAsync(other, FirstMessages);
        await ConsumeAsync(client, server, topic, FirstMessages / 2);
        await File.WriteAllTextAsync(Path.Combine(server.Directory, CatalogConfirmation.FileName), "why\n", Cancelled);
        MakeCertificate(server.Directory, server.Log);
        DataDirectory.CopyAsKilled(server.Directory, root.File("older"));
        await File.WriteAllTextAsync(
            Path.Combine(server.Directory, AdminPassword.FileName),
            "a later and longer one",
            Cancelled
        );
        server.Broker.CreateTopic("late", new TopicSettings { Kind = Broker.Topics.TopicKind.Durable });
        await using Producer late = await client.CreateProducerAsync("late", cancellationToken: Cancelled);
        await PublishAsync(late, 1);
        await PublishAsync(producer, Messages - FirstMessages);
        await PublishAsync(other, Messages - FirstMessages);
        await ConsumeAsync(client, server, topic, (Messages + FirstMessages) / 2);
        DataDirectory.CopyAsKilled(server.Directory, root.File("killed"));
        await server.DisposeAsync();
        DataDirectory.CopyAsKilled(root.File("broker"), root.File("closed"));
        return (topic.Id, groupless.Id);
    }

    private static async Task PublishAsync(Producer producer, int count)
    {
        for (int i = 0; i < count; i++)
        {
            await producer.PublishAsync(
                Encoding.UTF8.GetBytes(new string('x', MessageBytes)),
                cancellationToken: Cancelled
            );
        }
    }

    private static async Task ConsumeAsync(LightQClient client, TestServer server, Topic topic, long upTo)
    {
        await foreach (
            Message message in client.ConsumeAsync(
                "orders",
                new ConsumeOptions { Group = "g", Start = StartPosition.Earliest },
                Cancelled
            )
        )
        {
            if (message.Offset >= upTo - 1)
                break;
        }
        string groups = Path.Combine(server.Directory, "groups");
        await Eventually.TrueAsync(
            () => KnownOffsets.Read(server.Directory).Below(topic.Id, 0, 1) >= upTo && IsNoted(groups),
            Patience,
            () => "The position of the group is not on the disk, or not noted."
        );
    }

    /// <summary>A copy between a record and its note would have the note of the record before.</summary>
    private static bool IsNoted(string records) =>
        RecordEnd.Read(PlatformFileSystem.Choose(), records, out _)?.Offset
        == JournalInspector.InspectRecords(records).EndOffset;

    private static async Task<string> TryAsync(
        string root,
        Guid topic,
        string stop,
        (string Title, string Directory, string Pattern, int FromNewest) file,
        string damage
    )
    {
        string directory = Path.Combine(root, Guid.NewGuid().ToString("N")),
            from = Path.Combine(root, stop),
            under = Path.Combine(
                from,
                file.Directory.StartsWith("topics", StringComparison.Ordinal) ? $"topics/{topic:N}/0" : file.Directory
            );
        string[] damaged = Find(under, file.Pattern, file.FromNewest);
        if (damaged.Length == 0)
            return "–";
        DataDirectory.CopyAsKilled(from, directory);
        await File.WriteAllTextAsync(Path.Combine(directory, DataDirectoryLock.FileName), "1\n", Cancelled);
        foreach (string path in damaged)
        {
            string relative = Path.GetRelativePath(from, path),
                older = Path.Combine(root, "older", relative);
            if (!TryDamage(Path.Combine(directory, relative), older, damage))
                return "–";
        }
        try
        {
            return file.Directory == AuditFiles.DirectoryName ? JudgeAudit(directory)
                : ServersFiles.Contains(file.Pattern) ? JudgeServer(directory)
                : await StartAsync(directory, topic);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    /// <summary>What a row is about: a directory, names, or the last in order of the files that fit.</summary>
    private static string[] Find(string under, string pattern, int fromNewest)
    {
        string[] named = [.. pattern.Split('+').Select(name => Path.Combine(under, name))];
        if (!pattern.Contains('*', StringComparison.Ordinal))
            return [.. named.Select(Path.TrimEndingDirectorySeparator).Where(Path.Exists)];
        string[] found = [.. Directory.GetFiles(under, pattern).Order(StringComparer.Ordinal)];
        return found.Length > fromNewest ? [found[^(fromNewest + 1)]] : [];
    }

    /// <summary>Directories are removed or swapped; a file that is damaged with one, likewise.</summary>
    private static bool TryDamageWhole(string path, string older, string damage)
    {
        if (damage is not ("removed" or "older"))
            return false;
        Directory.Delete(path, recursive: true);
        if (damage == "older")
            DataDirectory.CopyAsKilled(older, path);
        return true;
    }

    private static bool TryDamage(string path, string older, string damage)
    {
        if (Directory.Exists(path))
            return TryDamageWhole(path, older, damage);
        byte[] bytes = File.ReadAllBytes(path);
        int used = Array.FindLastIndex(bytes, b => b != 0) + 1,
            half = HalfOf(path, bytes, used);
        switch (damage)
        {
            case "removed":
                File.Delete(path);
                return true;
            case "cut":
                bytes = bytes[..half];
                break;
            case "zeroed":
                bytes.AsSpan(half).Clear();
                break;
            case "older" when File.Exists(older):
                bytes = File.ReadAllBytes(older);
                break;
            case "older":
                return false;
            default:
                bytes = [.. bytes, .. new byte[4096]];
                bytes.AsSpan(bytes.Length - 4000).Fill(0x5A);
                break;
        }
        File.WriteAllBytes(path, bytes);
        return true;
    }

    /// <summary>About the half of what is used; of a segment, and of lines, where a batch or a line begins.</summary>
    private static int HalfOf(string path, byte[] bytes, int used)
    {
        if (path.EndsWith(".jsonl", StringComparison.Ordinal))
            return Array.IndexOf(bytes, (byte)'\n', used / 2) + 1;
        if (!path.EndsWith(".seg", StringComparison.Ordinal))
            return used / 2;
        int at = 4096;
        while (at < 4096 + ((used - 4096) / 2))
            at += BitConverter.ToInt32(bytes, at);
        return at;
    }

    /// <summary>What a start says of the audit log.</summary>
    private static string JudgeAudit(string directory)
    {
        var tail = AuditTail.Read(PlatformFileSystem.Choose(), Path.Combine(directory, AuditFiles.DirectoryName));
        bool isFound;
        try
        {
            isFound = AuditVerifier.Verify(directory).Finding is not null;
        }
        catch (FileNotFoundException)
        {
            isFound = false;
        }
        Assert.True(tail.Problem is null || isFound, $"{tail.Problem}, and verify finds nothing.");
        return tail.Problem is not null ? "reported"
            : isFound ? "found by `audit verify`"
            : AuditVerifier.Verify(directory).Lines < AuditVerifier.Verify(Path.Combine(directory, "..", "older")).Lines
                ? "not known"
            : "whole";
    }

    /// <summary>What a start makes of the files of the server.</summary>
    private static string JudgeServer(string directory)
    {
        string before = Path.Combine(directory, "..", "killed");
        using var log = new RecordedLog();
        try
        {
            string password = AdminPassword.ReadOrCreate(directory, log);
            MakeCertificate(directory, log);
            using X509Certificate2 left = SelfSignedCertificate.ReadIn(before)!,
                found = SelfSignedCertificate.ReadIn(directory)!;
            bool isAsLeft =
                password == File.ReadAllText(Path.Combine(before, AdminPassword.FileName))
                && found.Thumbprint == left.Thumbprint
                && CatalogConfirmation.IsPending(directory);
            return !log.Lines.IsEmpty ? "rebuilt"
                : isAsLeft ? "whole"
                : "not known";
        }
        catch (ServerStartException)
        {
            return "refused";
        }
    }

    private static void MakeCertificate(string directory, RecordedLog log) =>
        SelfSignedCertificate.EnsureIn(
            directory,
            new TlsOptions { SelfSigned = true },
            IPAddress.Loopback,
            DateTimeOffset.UtcNow,
            log
        );

    private static JournalEnvironment OpenUnsynced(JournalEnvironmentOptions options) =>
        new(options, new FaultyFileSystem(PlatformFileSystem.Choose()) { IsUnsynced = true });

    private static async Task<string> StartAsync(string directory, Guid id)
    {
        string brokerId = ReadId(Path.Combine(directory, "..", "killed"));
        VerifyView verified = new VerifyJob(directory, OutputFormat.Json).Look(Cancelled);
        bool isDamaged = verified.Verdict == "damaged",
            isNoted = verified.Journals.Any(j => j.Findings.Count > 0);
        var events = new Events();
        try
        {
            await using LightQBroker broker = await LightQBroker.OpenAsync(
                directory,
                new BrokerOptions
                {
                    StorageEvents = events,
                    OpenEnvironment = OpenUnsynced,
                    JournalWriters = 1,
                },
                TimeProvider.System
            );
            Topic topic = broker.Topics.Single(t => t.Id == id);
            Guid grouped = broker.GetTopic("orders").Id;
            if (topic.Partitions[0].Refusal is not null)
            {
                Assert.True(isDamaged, "The start refuses, and verify finds nothing.");
                return "refused";
            }
            (long messages, long gap) = Read(topic.Partitions[0].Log);
            if (gap > 0)
            {
                Assert.True(isDamaged, "A reader gets a gap, and verify finds nothing.");
                return "gap";
            }
            bool isLost =
                messages != Messages
                || !broker.TryGetTopic("late", out _)
                || KnownOffsets.Read(directory).Below(grouped, 0, 1) < (Messages + FirstMessages) / 2
                || broker.Id.ToString("N") != brokerId;
            if (events.Said > 0 || isNoted)
                return isLost ? "reported" : "rebuilt";
            Assert.False(isDamaged, "Verify finds damage, and the broker starts.");
            return isLost ? "not known" : "whole";
        }
        catch (Exception e) when (e is JournalCorruptException or DataDirectoryException or JournalFormatException)
        {
            bool isId = e.Message.Contains("broker-id", StringComparison.Ordinal); // No journal.
            Assert.True(isDamaged || isId, $"The start refuses, and verify finds nothing: {e.Message}");
            return "refused";
        }
    }

    private static string ReadId(string directory) => File.ReadAllText(Path.Combine(directory, "broker-id"))[..32];

    private static (long Messages, long Gap) Read(ITopicLog log)
    {
        using var ready = new AutoResetEvent(false);
        using LogReader reader = log.OpenReader(StartKind.Earliest, 0, holds: false, () => ready.Set());
        long messages = 0,
            lost = 0;
        while (true)
        {
            switch (reader.TryRead(256 * 1024, out LentRun run, out LogGap gap))
            {
                case ReadResult.Run:
                    messages += run.Messages;
                    reader.MoveTo(run.End);
                    break;
                case ReadResult.Gap:
                    lost += gap.LastOffset - gap.FirstOffset + 1;
                    break;
                case ReadResult.Pending:
                    ready.WaitOne(Patience);
                    break;
                default:
                    return (messages, lost);
            }
        }
    }

    private static void Check(string table)
    {
        const string Page = "docs/operate/reliability.md";
        string text = SourceTree.Read(Page);
        int begin = text.IndexOf(Begin, StringComparison.Ordinal) + Begin.Length,
            end = text.IndexOf(End, begin, StringComparison.Ordinal);
        if (Environment.GetEnvironmentVariable("LIGHTQ_WRITE_DOCS") == "1")
        {
            text = text[..begin] + table + text[end..];
            File.WriteAllText(SourceTree.PathOf(Page), text);
            end = begin + table.Length;
        }
        Assert.Equal(table, text[begin..end]);
    }

    private sealed class Events : IStorageEvents
    {
        private int _said;

        public int Said => Volatile.Read(ref _said);

        public void OnRebuilt(string what) => Interlocked.Increment(ref _said);

        public void OnUnknownTopic(string directory) => Interlocked.Increment(ref _said);

        public void OnIdsForgotten(Partition partition, long count) { }

        public void OnDeadLettered(
            Partition partition,
            string group,
            string deadTopic,
            DeadLettered letters,
            long leftOut
        ) { }

        public void OnGroupEnded(Topic topic, string group, TimeSpan unused) { }

        public void OnDamaged(Partition partition, JournalDamage damage) { }

        public void OnTopicFailed(Partition partition, JournalFailure failure) { }

        public void OnDiskFull(Partition partition, bool isFull) { }

        public void OnGrown(Partition partition, long bytes) { }

        public void OnHeld(Partition partition, long bytes, RetentionHold hold) { }

        public void OnPartitionLost(Partition partition, string reason) { }

        public void OnStateFailed(StoredState state, JournalFailure? failure) { }

        public void OnRefused(string what, Exception error) { }
    }
}
