using System.Reflection;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>
/// The floors inside a project: a folder uses the folders below it, and no others. What stands in a project's root
/// counts twice: its façade is a floor, a public type may belong to the folder that makes it, and the rest is the
/// vocabulary (options, exceptions, log messages), which every floor uses and which uses none.
/// </summary>
public sealed class FloorTests
{
    private const string Facade = "",
        Vocabulary = "vocabulary";

    private static readonly Dictionary<string, House> Houses = new()
    {
        ["LightQ.Storage"] = new()
        {
            Floors =
            [
                ["Files"],
                ["Segments"],
                ["Recovery"],
                ["Inspection", "Mapped", "Writing"],
                ["Backups", "Reading", "Scrubbing"],
                [Facade],
                ["Spilling", "State"],
            ],
            Roots =
            {
                ["Files"] = ["JournalFailure"],
                [Facade] =
                [
                    "IJournalListener",
                    "Journal",
                    "JournalEnding",
                    "JournalEnvironment",
                    "JournalReader",
                    "JournalHousekeeping",
                ],
            },
        },
        ["LightQ.Server"] = new()
        {
            Floors =
            [
                ["Transport"],
                ["Configuration"],
                ["Limits", "Tls"],
                ["Ports"],
                ["Security"],
                ["Audit", "Connections"],
                ["DataPlane"],
                ["Messages"],
                ["Telemetry"],
                ["Hosting"],
                ["Control"],
                ["Cluster", "Json"],
                ["Web"],
                ["Diagnosis"],
                [Facade],
            ],
            Roots = { [Facade] = ["DashboardHost", "HttpHost", "LightQServer"] },
        },
        ["LightQ.Bench"] = new()
        {
            Floors =
            [
                ["Figures", "Processes"],
                ["Checks"],
                ["Load", "Roles"],
                ["Idle", "Nats", "Relay"],
                ["Sessions"],
                ["Fanout", "InProcess", "Latency", "Reference", "Scale", "Settle", "Startup", "Throughput"],
                [Facade],
            ],
            Roots = { [Facade] = ["BenchRoles"] },
        },
        ["LightQ.Cli"] = new()
        {
            Floors =
            [
                ["Output"],
                ["Options"],
                ["Clusters"],
                [
                    "Audits",
                    "Backups",
                    "Bench",
                    "Contexts",
                    "Dashboard",
                    "Groups",
                    "Journals",
                    "Messages",
                    "Quickstart",
                    "Reference",
                    "Servers",
                    "Stats",
                    "Top",
                    "Users",
                ],
                ["Doctor", "Topics"],
                [Facade],
            ],
            Roots = { [Facade] = ["CommandLine", "CompletionCommand", "ParseMistake", "Program"] },
        },
        ["LightQ.Client"] = new()
        {
            Floors =
            [
                ["Encryption", "Filtering", "Serializing", "Telemetry", "Timing"],
                ["Batches"],
                ["Connections"],
                ["Consuming", "Publishing"],
                ["Administration", "Processing"],
                [Facade],
                ["Hosting"],
            ],
            Roots =
            {
                ["Filtering"] = ["MessageFilter"],
                ["Serializing"] = ["MessageSerializer"],
                ["Telemetry"] = ["LightQTelemetry"],
                ["Publishing"] = ["BatchBuilder", "IProducer`1", "Producer", "Producer`1"],
                ["Consuming"] =
                [
                    "ConsumeOptions",
                    "Message",
                    "Message`1",
                    "MessageBatch",
                    "MessageBatchEnumerator",
                    "MessageConsumer",
                ],
                ["Processing"] =
                [
                    "IMessageHandler",
                    "IMessageHandler`1",
                    "ProcessErrorEventArgs",
                    "ProcessMessageEventArgs",
                    "ProcessorOptions",
                ],
                [Facade] = ["LightQClient", "LightQProcessor"],
                ["Hosting"] = ["LightQHealthCheck"],
            },
        },
    };

    public static TheoryData<string> Projects => [.. Houses.Keys];

    [Theory]
    [MemberData(nameof(Projects))]
    public void A_folder_uses_only_what_lies_below_it(string project)
    {
        HashSet<Type> types = [.. TypesOf(project)];
        string[] upward =
        [
            .. from type in types
            from used in Instructions.UsedBy(type)
            where types.Contains(used) && !MayUse(project, type, used)
            select $"{type.FullName} uses {used.FullName}",
        ];
        Assert.True(upward.Length == 0, string.Join('\n', upward.Distinct().Order(StringComparer.Ordinal)));
    }

    [Theory]
    [MemberData(nameof(Projects))]
    public void The_table_names_every_folder_and_nothing_that_is_gone(string project)
    {
        House house = Houses[project];
        string[] floors = [.. house.Floors.SelectMany(f => f)];
        string[] folders = [.. TypesOf(project).Select(t => FolderOf(project, t)).Append(Facade).Distinct()];
        Assert.Equal(floors.Order(StringComparer.Ordinal), folders.Order(StringComparer.Ordinal));

        string[] roots = [.. TypesOf(project).Where(t => t.Namespace == project).Select(t => t.Name)];
        Assert.NotEmpty(roots);
        Assert.Empty(house.Roots.Values.SelectMany(names => names).Except(roots));
        Assert.Empty(house.Roots.Keys.Except(floors));
    }

    private static IEnumerable<Type> TypesOf(string project) =>
        Assembly
            .Load(SourceTree.Projects[project].AssemblyName)
            .GetTypes()
            .Where(t =>
                t.DeclaringType is null
                && !t.Name.StartsWith('<')
                && (t.Namespace == project || t.Namespace?.StartsWith(project + ".", StringComparison.Ordinal) == true)
            );

    private static bool MayUse(string project, Type user, Type used)
    {
        (int from, string folder) = PlaceOf(project, user);
        (int to, string other) = PlaceOf(project, used);
        return to < from || folder == other;
    }

    /// <summary>The folder of a type, and its floor: 0 is the vocabulary's.</summary>
    private static (int Floor, string Folder) PlaceOf(string project, Type type)
    {
        House house = Houses[project];
        string folder =
            type.Namespace == project
                ? house.Roots.FirstOrDefault(r => r.Value.Contains(type.Name)).Key ?? Vocabulary
                : FolderOf(project, type);
        return (1 + Array.FindIndex(house.Floors, f => f.Contains(folder)), folder);
    }

    private static string FolderOf(string project, Type type) =>
        type.Namespace == project ? Facade : type.Namespace![(project.Length + 1)..].Split('.')[0];

    private sealed class House
    {
        /// <summary>From the bottom to the top; folders of one floor do not know each other.</summary>
        public required string[][] Floors { get; init; }

        /// <summary>By folder, the types of the root that belong to it.</summary>
        public Dictionary<string, string[]> Roots { get; } = [];
    }
}
