using System.Text;
using LightQ.Broker;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests.Docs;
using LightQ.Protocol.Frames;
using LightQ.Server.Audit;
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

    /// <summary>What the table calls a file, and where it is: the last in order of those that fit.</summary>
    private static readonly (string Title, string Directory, string Pattern, int FromNewest)[] Files =
    [
        ("`catalog/*.seg`", "catalog", "*.seg", 0),
        ("`catalog-end`", "", "catalog-end", 0),
        ("`groups/*.seg`", "groups", "*.seg", 0),
        ("`groups-end`", "", "groups-end", 0),
        ("`broker-id`", "", "broker-id", 0),
        ("newest segment", "topics", "*.seg", 0),
        ("the same, no group", Groupless, "*.seg", 0),
        ("segment before it", "topics", "*.seg", 1),
        ("`checkpoint`", "topics", "checkpoint", 0),
        ("`epochs`", "topics", "epochs", 0),
        ("`*.idx`", "topics", "*.idx", 0),
        ("`*.producers`", "topics", "*.producers", 0),
        ("`audit/audit-*.jsonl`", "audit", "*.jsonl", 0),
        ("`audit/head`", "audit", "head", 0),
    ];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_start_makes_of_every_missing_state_what_the_table_says()
    {
        using var root = new TemporaryDirectory();
        (Guid topic, Guid groupless) = await MakeAsync(root);
        var table = new StringBuilder();
        foreach (string stop in new[] { "closed", "killed" })
        {
            table.Append(
                System.Globalization.CultureInfo.InvariantCulture,
                $"| {(stop == "closed" ? "after a clean stop" : "after a kill")} | removed | cut | end zeroed | older "
                    + $"copy | made longer |\n|---|---|---|---|---|---|\n"
            );
            string[][] rows = new string[Files.Length][];
            await Parallel.ForAsync(
                0,
                Files.Length,
                Cancelled,
                async (i, _) =>
                {
                    rows[i] = new string[Damages.Length];
                    for (int d = 0; d < Damages.Length; d++)
                    {
                        Guid of = Files[i].Directory == Groupless ? groupless : topic;
                        rows[i][d] = await TryAsync(root.Path, of, stop, Files[i], Damages[d]);
                    }
                }
            );
            for (int i = 0; i < Files.Length; i++)
                table.Append($"| {Files[i].Title} | {string.Join(" | ", rows[i])} |\n");
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
                Broker = o.Broker with { CheckpointInterval = TimeSpan.FromHours(1) },
            }
        );
        var settings = new TopicSettings { Kind = Broker.Topics.TopicKind.Durable, MaxMessageBytes = 16 * 1024 };
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
        DataDirectory.CopyAsKilled(server.Directory, root.File("older"));
        server.Broker.CreateTopic("late", new TopicSettings { Kind = Broker.Topics.TopicKind.Durable });
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
            under = Path.Combine(
                root,
                stop,
                file.Directory.StartsWith("topics", StringComparison.Ordinal) ? $"topics/{topic:N}/0" : file.Directory
            );
        string[] found = [.. Directory.GetFiles(under, file.Pattern).Order(StringComparer.Ordinal)];
        if (found.Length <= file.FromNewest)
            return "–";
        string relative = Path.GetRelativePath(Path.Combine(root, stop), found[^(file.FromNewest + 1)]);
        DataDirectory.CopyAsKilled(Path.Combine(root, stop), directory);
        if (!TryDamage(Path.Combine(directory, relative), Path.Combine(root, "older", relative), damage))
            return "–";
        try
        {
            return file.Directory == "audit" ? Judge(directory) : await StartAsync(directory, topic);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static bool TryDamage(string path, string older, string damage)
    {
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
    private static string Judge(string directory)
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

    private static async Task<string> StartAsync(string directory, Guid id)
    {
        string partition = Path.Combine(directory, "topics", id.ToString("N"), "0"),
            brokerId = ReadId(Path.Combine(directory, "..", "killed"));
        KnownOffsets known = KnownOffsets.Read(directory);
        JournalReport report = JournalInspector.Inspect(partition, id, knownBelow: epoch => known.Below(id, 0, epoch));
        bool areRecordsDamaged = new[] { "catalog", "groups" }.Any(name => IsDamaged(Path.Combine(directory, name)));
        var events = new Events();
        try
        {
            await using LightQBroker broker = await LightQBroker.OpenAsync(
                directory,
                new BrokerOptions { StorageEvents = events },
                TimeProvider.System
            );
            Assert.False(areRecordsDamaged, "Verify finds damage, and the broker starts.");
            Topic topic = broker.Topics.Single(t => t.Id == id);
            Guid grouped = broker.GetTopic("orders").Id;
            if (topic.Partitions[0].Refusal is not null)
            {
                Assert.True(report.IsDamaged, "The start refuses, and verify finds nothing.");
                return "refused";
            }
            (long messages, long gap) = Read(topic.Partitions[0].Log);
            if (gap > 0)
            {
                Assert.True(report.IsDamaged, "A reader gets a gap, and verify finds nothing.");
                return "gap";
            }
            bool isLost =
                messages != Messages
                || !broker.TryGetTopic("late", out _)
                || KnownOffsets.Read(directory).Below(grouped, 0, 1) < (Messages + FirstMessages) / 2
                || broker.Id.ToString("N") != brokerId;
            return events.Rebuilt > 0 || (!isLost && report.Findings.Count > 0) ? "rebuilt"
                : isLost ? "not known"
                : "whole";
        }
        catch (Exception e) when (e is JournalCorruptException or DataDirectoryException or JournalFormatException)
        {
            return "refused";
        }
    }

    private static string ReadId(string directory) => File.ReadAllText(Path.Combine(directory, "broker-id"))[..32];

    private static bool IsDamaged(string records)
    {
        try
        {
            return JournalInspector.InspectRecords(records).IsDamaged;
        }
        catch (FileNotFoundException)
        {
            return false;
        }
    }

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
        private int _rebuilt;

        public int Rebuilt => Volatile.Read(ref _rebuilt);

        public void OnRebuilt(string what) => Interlocked.Increment(ref _rebuilt);

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
