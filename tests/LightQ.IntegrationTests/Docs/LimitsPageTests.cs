using System.Text.RegularExpressions;
using LightQ.Server;
using LightQ.Server.Configuration;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>
/// The table of docs/operate/limits.md is what the settings say of themselves: each limit with its default, and what is
/// allowed.
/// </summary>
public sealed partial class LimitsPageTests
{
    private static readonly Document Page = Document.Read("docs/operate/limits.md");

    private static IReadOnlyDictionary<string, string[]> Rows =>
        Row()
            .Matches(Page.Text)
            .Select(m => m.Value.Trim('|').Split('|').Select(c => c.Trim()).ToArray())
            .ToDictionary(c => c[0].Trim('`'), c => c);

    public static TheoryData<string> Limits => [.. ServerSettings.All.Where(s => s.IsLimit).Select(s => s.Key)];

    [Fact]
    public void The_table_has_every_limit_once_in_the_order_of_the_settings() =>
        Assert.Equal(ServerSettings.All.Where(s => s.IsLimit).Select(s => s.Key), Rows.Keys);

    [Theory]
    [MemberData(nameof(Limits))]
    public void A_row_has_the_default_and_what_is_allowed(string key)
    {
        ServerSetting setting = ServerSettings.All.Single(s => s.Key == key);
        string[] row = Rows[key];
        Assert.Equal(setting.Read(new LightQServerOptions()), row[1]);
        Assert.Equal(Allowed(setting), row[2]);
        Assert.All(row, cell => Assert.NotEmpty(cell));
        Assert.Equal(6, row.Length);
        Assert.Equal(Text(setting.Scope!.Value), row[3]);
        Assert.Equal(!setting.IsLive, row[4].EndsWith("(2)", StringComparison.Ordinal)); // What needs a restart.
    }

    /// <summary>
    /// What all count in together has shares, or takes a right that few have: the place that counts it asks the rule of
    /// shares. A new limit without one must say here whose it is.
    /// </summary>
    [Theory]
    [MemberData(nameof(Limits))]
    public void What_all_count_in_together_asks_the_rule_of_shares(string key)
    {
        LimitScope scope = ServerSettings.All.Single(s => s.Key == key).Scope!.Value;
        if (!scope.ToString().Contains("Shared", StringComparison.Ordinal) || key == "MaxWaitingLogins")
            return; // Addresses take turns there (FairQueue): the one that has most gives way.
        string name = key.Split(':')[^1];
        Assert.Contains(
            Directory
                .EnumerateFiles(SourceTree.PathOf("src"), "*.cs", SearchOption.AllDirectories)
                .Select(File.ReadAllText),
            text => text.Contains($"nameof({OptionsOf(key)}.{name})", StringComparison.Ordinal) && Rule().IsMatch(text)
        );
    }

    [Fact]
    public void What_the_server_refuses_is_named_like_a_limit()
    {
        string[] limits = [.. ServerSettings.All.Where(s => s.IsLimit).Select(s => s.Key)];
        string[] named =
        [
            .. Directory
                .EnumerateFiles(SourceTree.PathOf("src"), "*.cs", SearchOption.AllDirectories)
                .SelectMany(f => Named().Matches(File.ReadAllText(f)))
                .Select(m => KeyOf(m.Groups["options"].Value, m.Groups["name"].Value)),
        ];
        Assert.True(named.Length >= 10, $"only {named.Length} names were found");
        Assert.All(named, n => Assert.Contains(n, limits));
    }

    private static string Text(LimitScope scope) =>
        scope switch
        {
            LimitScope.Request => "a request",
            LimitScope.Stream => "a stream",
            LimitScope.Connection => "a connection",
            LimitScope.Address => "an address",
            LimitScope.User => "a user",
            LimitScope.Source => "an address or user",
            LimitScope.SharedByAddresses => "all, in shares of addresses",
            LimitScope.SharedByUsers => "all, in shares of users",
            LimitScope.SharedByAddressesAndUsers => "all, in shares of addresses and users",
            LimitScope.TopicSharedByUsers => "a topic, in shares of users",
            LimitScope.PartitionSharedByUsers => "a partition, in shares of users",
            LimitScope.Administrators => "administrators",
            _ => throw new ArgumentOutOfRangeException(nameof(scope), scope, "a scope of limits"),
        };

    private static string OptionsOf(string key) =>
        key.Split(':') is [{ } section, _] ? $"{section}Options" : nameof(LightQServerOptions);

    private static string KeyOf(string options, string name) =>
        options == nameof(LightQServerOptions) ? name : $"{options[..^"Options".Length]}:{name}";

    /// <summary>What a setting says when it is given something that it never allows.</summary>
    private static string Allowed(ServerSetting setting)
    {
        string impossible = setting.Read(new LightQServerOptions()).Contains(':', StringComparison.Ordinal)
            ? "-00:00:01"
            : "-1";
        ServerStartException refused = Assert.Throws<ServerStartException>(() =>
            setting.Apply(new LightQServerOptions(), impossible, "test")
        );
        return refused.Message.Split("; allowed: ")[1].TrimEnd('.');
    }

    [GeneratedRegex(@"\b(UserShare|Shares|ConnectionGate|Admission)\b")]
    private static partial Regex Rule();

    [GeneratedRegex("^\\| `[A-Z].*\\|$", RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex(
        @"\b(Refuse|Exhausted|Count|LimitMet)\((ErrorCode\.\w+, \S+, )?\s*nameof\((?<options>\w+Options)\.(?<name>\w+)\)"
    )]
    private static partial Regex Named();
}
