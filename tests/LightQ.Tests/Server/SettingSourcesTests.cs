using LightQ.Server;
using LightQ.Server.Configuration;
using LightQ.Server.Control;
using Xunit;

namespace LightQ.Tests.Server;

/// <summary>Where the values of options come from, also when a program or a reload has changed some.</summary>
public sealed class SettingSourcesTests
{
    private static readonly ServerConfiguration Configuration = Load(("LIGHTQ__Broker__MaxTopics", "50"));

    [Fact]
    public void A_value_that_a_program_sets_over_the_configuration_comes_from_code()
    {
        LightQServerOptions options = Configuration.Options;
        Assert.Equal("environment LIGHTQ__Broker__MaxTopics", SourceOf(options, "Broker:MaxTopics"));
        Assert.Equal("--data", SourceOf(options, "DataDirectory"));
        Assert.Equal("default", SourceOf(options, "Broker:MaxUsers"));

        options = options with { Broker = options.Broker with { MaxTopics = 60, MaxUsers = 70 } };
        Assert.Equal("code", SourceOf(options, "Broker:MaxTopics"));
        Assert.Equal("code", SourceOf(options, "Broker:MaxUsers"));
        Assert.Equal("--data", SourceOf(options, "DataDirectory"));
    }

    [Fact]
    public void A_reload_gives_what_it_takes_over_another_source()
    {
        LightQServerOptions running = Configuration.Options,
            configured = Load(("LIGHTQ__Broker__MaxUsers", "40"), ("LIGHTQ__Broker__JournalWriters", "3")).Options,
            merged = running with { Broker = running.Broker with { MaxTopics = 1_000_000, MaxUsers = 40 } };
        merged = merged with { Origins = SettingSources.Merge(running, configured, merged) };
        Assert.Equal("environment LIGHTQ__Broker__MaxUsers", SourceOf(merged, "Broker:MaxUsers"));
        Assert.Equal("default", SourceOf(merged, "Broker:JournalWriters"));
        Assert.Equal("code", SourceOf(merged, "Broker:MaxTopics"));
    }

    [Fact]
    public void An_address_with_a_user_is_not_repeated()
    {
        LightQServerOptions options = new() { Cluster = new() { Engine = "nats://alice:sesame@n1:4222" } };
        Assert.DoesNotContain(
            SettingMapping.ToProto(options),
            s => s.ToString().Contains("sesame", StringComparison.Ordinal)
        );
        Assert.Single(SettingMapping.ToProto(options), s => s.Value == "(an address with a user)");
    }

    [Fact]
    public void Options_with_the_same_values_are_equal_wherever_these_come_from()
    {
        LightQServerOptions written = new()
        {
            DataDirectory = "data",
            Broker = new() { MaxTopics = 50 },
        };
        Assert.Equal(written, Configuration.Options);
        Assert.Equal(written.GetHashCode(), Configuration.Options.GetHashCode());
    }

    private static ServerConfiguration Load(params (string Name, string Value)[] environment) =>
        ServerConfiguration.Of([
            .. ConfigurationLayers.ReadEnvironment(environment.Select(e => KeyValuePair.Create(e.Name, e.Value))),
            .. ConfigurationLayers.ReadFlags(new Dictionary<string, string> { ["--data"] = "data" }),
        ]);

    private static string SourceOf(LightQServerOptions options, string key) =>
        SettingSources.List(options).Single(s => s.Setting.Key == key).Source.ToString();
}
