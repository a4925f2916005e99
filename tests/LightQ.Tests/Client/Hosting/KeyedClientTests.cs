using LightQ.Client;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace LightQ.Tests.Client.Hosting;

/// <summary>Several clients in one application, and connection strings of its configuration.</summary>
public sealed class KeyedClientTests
{
    [Fact]
    public async Task Each_client_has_its_key_and_the_one_without_has_none()
    {
        await using ServiceProvider services = new ServiceCollection()
            .AddLightQ("lightq://plain")
            .AddKeyedLightQ("audit", "lightq://audit", options => options with { ClientName = "auditor" })
            .AddKeyedLightQ("billing", Configuration(("LightQ:Host", "billing")).GetSection("LightQ"))
            .BuildServiceProvider();
        Assert.Equal("plain", services.GetRequiredService<LightQClient>().Options.Host);
        LightQClient audit = services.GetRequiredKeyedService<LightQClient>("audit");
        Assert.Equal(("audit", "auditor"), (audit.Options.Host, audit.Options.ClientName));
        Assert.Equal("billing", services.GetRequiredKeyedService<LightQClient>("billing").Options.Host);
        Assert.Same(audit, services.GetRequiredKeyedService<LightQClient>("audit"));
    }

    [Fact]
    public void Connection_strings_are_found_by_their_names()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection([
            new("ConnectionStrings:queue", "lightq://queue:6000"),
            new("ConnectionStrings:audit", "lightq://audit"),
        ]);
        using IHost host = builder
            .AddLightQClient("queue")
            .AddKeyedLightQClient("audit", options => options with { ClientName = "auditor" })
            .Build();
        Assert.Equal(6000, host.Services.GetRequiredService<LightQClient>().Options.DataPort);
        Assert.Equal("auditor", host.Services.GetRequiredKeyedService<LightQClient>("audit").Options.ClientName);
    }

    [Fact]
    public async Task A_health_check_is_of_one_client_and_named_after_it()
    {
        IServiceCollection services = new ServiceCollection()
            .AddLogging()
            .AddLightQ("lightq://plain")
            .AddKeyedLightQ("audit", "lightq://audit");
        services
            .AddHealthChecks()
            .AddLightQ()
            .AddLightQ(
                clientKey: "audit",
                failureStatus: HealthStatus.Degraded,
                tags: ["ready"],
                timeout: TimeSpan.FromSeconds(2)
            );
        await using ServiceProvider provider = services.BuildServiceProvider();
        HealthCheckRegistration[] checks =
        [
            .. provider.GetRequiredService<IOptions<HealthCheckServiceOptions>>().Value.Registrations,
        ];
        Assert.Equal(["lightq", "audit"], checks.Select(check => check.Name));
        // The framework waits for longer than the check, whose words say what is wrong.
        Assert.Equal((HealthStatus.Degraded, TimeSpan.FromSeconds(3)), (checks[1].FailureStatus, checks[1].Timeout));
        Assert.Contains("ready", checks[1].Tags);
        Assert.All(checks, check => Assert.IsType<LightQHealthCheck>(check.Factory(provider)));
    }

    private static IConfiguration Configuration(params (string Key, string Value)[] values) =>
        new ConfigurationBuilder()
            .AddInMemoryCollection(values.Select(v => KeyValuePair.Create(v.Key, (string?)v.Value)))
            .Build();
}
