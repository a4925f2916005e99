using System.Reflection;
using System.Text.Json;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>Who may reference whom. A new arrow is a decision: it is made here first.</summary>
public sealed class DependencyTests
{
    private const string Protobuf = "Google.Protobuf";

    // project: what it may reference directly, projects and packages.
    private static readonly Dictionary<string, string[]> Allowed = new()
    {
        ["LightQ.Protocol"] = [Protobuf, "Grpc.Core.Api"],
        ["LightQ.Disruptor"] = [],
        ["LightQ.Scheduling"] = [],
        ["LightQ.Storage"] = ["LightQ.Protocol", "LightQ.Disruptor", "LightQ.Scheduling"],
        ["LightQ.Broker"] = ["LightQ.Protocol", "LightQ.Disruptor", "LightQ.Scheduling", "LightQ.Storage"],
        ["LightQ.Replication.Nats"] = ["LightQ.Broker", "NATS.Client.Core", "NATS.Client.JetStream"],
        ["LightQ.Server"] =
        [
            "LightQ.Protocol",
            "LightQ.Disruptor",
            "LightQ.Scheduling",
            "LightQ.Storage",
            "LightQ.Broker",
            "Microsoft.AspNetCore.App",
            "Grpc.AspNetCore.HealthChecks",
            "Grpc.AspNetCore.Server",
            "Grpc.AspNetCore.Web",
            "Grpc.Net.Client",
            "Grpc.Reflection",
            "Grpc.StatusProto",
            "OpenTelemetry",
            "OpenTelemetry.Exporter.OpenTelemetryProtocol",
        ],
        ["LightQ.Client"] =
        [
            "LightQ.Protocol",
            "Grpc.Net.Client",
            "Microsoft.Extensions.*.Abstractions",
            "Microsoft.Extensions.Diagnostics.HealthChecks",
        ],
        ["LightQ.OpenTelemetry"] = ["LightQ.Client", "OpenTelemetry.Api"],
        ["LightQ.Bench"] = ["LightQ.Protocol", "LightQ.Disruptor", "LightQ.Storage", "LightQ.Client", "LightQ.Server"],
        ["LightQ.Cli"] =
        [
            "LightQ.Protocol",
            "LightQ.Storage",
            "LightQ.Broker",
            "LightQ.Client",
            "LightQ.Replication.Nats",
            "LightQ.Server",
            "LightQ.Bench",
            "Spectre.Console",
            "System.CommandLine",
        ],
        ["LightQ.Testing"] = ["LightQ.Server", "LightQ.Client"],
    };

    public static TheoryData<string> ProjectNames => [.. SourceTree.Projects.Keys];

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void A_project_references_only_what_the_arrows_allow(string name)
    {
        Assert.True(
            Allowed.TryGetValue(name, out string[]? allowed),
            $"{name} has no arrows: add it to the table here and to ARCHITECTURE.md."
        );
        SourceTree.ProjectFile project = SourceTree.Projects[name];
        IEnumerable<string> references = project.ProjectReferences.Concat(project.Packages).Concat(project.Frameworks);
        Assert.DoesNotContain(references, reference => !allowed.Any(pattern => Matches(pattern, reference)));
        Assert.Equal("Microsoft.NET.Sdk", project.Sdk);
    }

    [Fact]
    public void The_dashboard_is_a_client_like_any_other_and_no_project_references_it()
    {
        SourceTree.ProjectFile dashboard = Assert.Single(SourceTree.BrowserProjects).Value;
        Assert.Equal("LightQ.Dashboard", dashboard.Name);
        // It has the protos alone, as a client in another language has.
        Assert.Empty(dashboard.ProjectReferences);
        Assert.Equal(
            [
                Protobuf,
                "Grpc.Net.Client",
                "Grpc.Net.Client.Web",
                "Microsoft.AspNetCore.Components.WebAssembly",
                "MudBlazor",
            ],
            dashboard.Packages
        );
        Assert.DoesNotContain(
            SourceTree.Projects.Values,
            project => project.ProjectReferences.Contains(dashboard.Name)
        );
        // A plain build of the tree does not wait for its packages.
        Assert.DoesNotContain(
            dashboard.Name,
            File.ReadAllText(Path.Combine(SourceTree.Root, "LightQ.sln")),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void An_assembly_uses_only_projects_behind_its_arrows(string name)
    {
        SourceTree.ProjectFile project = SourceTree.Projects[name];
        HashSet<string> reachable = [.. SourceTree.Closure(name).Select(reached => reached.AssemblyName)];
        IEnumerable<string> used = Assembly
            .Load(project.AssemblyName)
            .GetReferencedAssemblies()
            .Select(reference => reference.Name!);
        Assert.DoesNotContain(used, reference => IsOurs(reference) && !reachable.Contains(reference));
    }

    [Fact]
    public void The_arrows_form_no_circle()
    {
        foreach (SourceTree.ProjectFile project in SourceTree.Projects.Values)
        {
            foreach (string reference in project.ProjectReferences)
                Assert.DoesNotContain(SourceTree.Closure(reference), reached => reached.Name == project.Name);
        }
    }

    [Fact]
    public void A_program_that_uses_only_the_client_needs_nothing_but_the_plain_runtime()
    {
        IReadOnlyCollection<SourceTree.ProjectFile> closure = SourceTree.Closure("LightQ.Client");
        Assert.Empty(closure.SelectMany(project => project.Frameworks));
        Assert.DoesNotContain(
            closure,
            project => project.Name is "LightQ.Server" or "LightQ.Broker" or "LightQ.Storage"
        );

        IReadOnlyCollection<string> assemblies = AssembliesBehind("LightQ.Client");
        Assert.Contains(Protobuf, assemblies);
        Assert.DoesNotContain(assemblies, name => name.StartsWith("Microsoft.AspNetCore", StringComparison.Ordinal));
        string runtime = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        string[] extensions =
        [
            "Configuration.Abstractions",
            "DependencyInjection.Abstractions",
            "Diagnostics.Abstractions",
            "Diagnostics.HealthChecks",
            "Diagnostics.HealthChecks.Abstractions",
            "FileProviders.Abstractions",
            "Hosting.Abstractions",
            "Logging.Abstractions",
            "Options",
            "Primitives",
        ];
        string[] packages =
        [
            Protobuf,
            "Grpc.Core.Api",
            "Grpc.Net.Client",
            "Grpc.Net.Common",
            .. extensions.Select(name => $"Microsoft.Extensions.{name}"),
        ];
        Assert.DoesNotContain(
            assemblies,
            name => !IsOurs(name) && !packages.Contains(name) && !File.Exists(Path.Combine(runtime, name + ".dll"))
        );
    }

    [Fact]
    public void The_clients_restored_packages_bring_no_framework_of_their_own()
    {
        string path = Path.Combine(SourceTree.Root, "src", "LightQ.Client", "obj", "project.assets.json");
        Assert.SkipUnless(File.Exists(path), "The client was restored elsewhere.");
        using var assets = JsonDocument.Parse(File.ReadAllText(path));
        JsonElement target = assets.RootElement.GetProperty("targets").EnumerateObject().First().Value;
        Assert.NotEmpty(target.EnumerateObject());
        foreach (JsonProperty library in target.EnumerateObject())
        {
            Assert.False(
                library.Value.TryGetProperty("frameworkReferences", out JsonElement frameworks)
                    && frameworks.GetArrayLength() > 0,
                library.Name
            );
        }
    }

    private static HashSet<string> AssembliesBehind(string root)
    {
        var found = new HashSet<string>();
        var open = new Stack<string>([root]);
        while (open.TryPop(out string? name))
        {
            // What the plain runtime brings needs no looking into.
            if (
                !found.Add(name)
                || name.StartsWith("System.", StringComparison.Ordinal)
                || name is "netstandard" or "mscorlib"
            )
            {
                continue;
            }

            foreach (AssemblyName reference in Assembly.Load(name).GetReferencedAssemblies())
                open.Push(reference.Name!);
        }
        // An assembly without code references nothing yet; its project's references count all the same.
        foreach (SourceTree.ProjectFile project in SourceTree.Closure(root))
        {
            found.UnionWith(
                Assembly.Load(project.AssemblyName).GetReferencedAssemblies().Select(reference => reference.Name!)
            );
        }

        return found;
    }

    private static bool IsOurs(string assembly) =>
        assembly == "lightq" || assembly.StartsWith("LightQ.", StringComparison.Ordinal);

    private static bool Matches(string pattern, string name)
    {
        int star = pattern.IndexOf('*', StringComparison.Ordinal);
        return star < 0
            ? pattern == name
            : name.StartsWith(pattern[..star], StringComparison.Ordinal)
                && name.EndsWith(pattern[(star + 1)..], StringComparison.Ordinal);
    }
}
