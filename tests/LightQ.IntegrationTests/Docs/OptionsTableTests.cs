using System.Reflection;
using System.Text.RegularExpressions;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server;
using LightQ.Testing;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>docs/design/client.md says of every public option what happens where its default guesses wrong.</summary>
public sealed partial class OptionsTableTests
{
    private static readonly string Section = Document
        .Read("docs/design/client.md")
        .Text.Split("## What a default supposes\n")[1]
        .Split("\n## ")[0];

    /// <summary>Whatever applications set before they begin.</summary>
    private static IEnumerable<Type> OptionTypes =>
        new[] { typeof(LightQClient), typeof(LightQTestBroker) }
            .SelectMany(t => t.Assembly.GetExportedTypes())
            .Where(t => OptionName().IsMatch(t.Name));

    public static TheoryData<string, string> Options =>
        [
            .. from type in OptionTypes
            from property in type.GetProperties(BindingFlags.Instance | BindingFlags.Public)
            where property.SetMethod is { IsPublic: true }
            select (type.Name, property.Name),
        ];

    public static TheoryData<string> ServersOptions =>
        [
            .. typeof(LightQServer)
                .Assembly.GetExportedTypes()
                .Where(t => t.Name.EndsWith("Options", StringComparison.Ordinal))
                .Select(t => t.Name),
        ];

    [Fact]
    public void The_walk_finds_the_options() =>
        Assert.Superset(
            new HashSet<Type>
            {
                typeof(ConsumeOptions),
                typeof(ProcessorOptions),
                typeof(ProducerOptions),
                typeof(PublishOptions),
                typeof(LightQClientOptions),
                typeof(TopicSpec),
                typeof(BrowseOptions),
                typeof(LetterListOptions),
                typeof(AuditEventQuery),
            },
            OptionTypes.ToHashSet()
        );

    [Theory]
    [MemberData(nameof(Options))]
    public void An_option_has_its_row(string type, string option)
    {
        string[] parts = Section.Split($"### {type}\n");
        bool isByItself =
            parts.Length == 2 && parts[1].Split("\n###")[0].Contains($"\n| `{option}` | ", StringComparison.Ordinal);
        Assert.True(
            isByItself || Section.Contains($"\n| `{type}.{option}` | ", StringComparison.Ordinal),
            $"Say in docs/design/client.md what goes wrong with the default of {type}.{option}."
        );
    }

    [Theory]
    [MemberData(nameof(ServersOptions))]
    public void The_servers_options_are_named(string type) =>
        Assert.Contains($"`{type}`", Section, StringComparison.Ordinal);

    [GeneratedRegex("(Options|Spec|Query)$")]
    private static partial Regex OptionName();
}
