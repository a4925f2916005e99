using LightQ.Client;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace LightQ.Tests.Client.Hosting;

/// <summary>A client's options from an application's configuration, and what is said of those that are wrong.</summary>
public sealed class ConfigurationTests
{
    [Fact]
    public async Task A_section_may_be_a_connection_string()
    {
        LightQClientOptions options = await ReadAsync(("LightQ", "lightq://ann:secret@queue:6000?control=6001"));
        Assert.Equal(
            ("queue", 6000, 6001, "ann", "secret"),
            (options.Host, options.DataPort, options.ControlPort, options.User, options.Password)
        );
    }

    [Fact]
    public async Task Keys_are_named_like_the_options_and_override_the_connection_string_beside_them()
    {
        LightQClientOptions options = await ReadAsync(
            ("LightQ:ConnectionString", "lightq://queue:6000"),
            ("LightQ:dataport", "6002"),
            ("LightQ:ControlPort", "6003"),
            ("LightQ:User", "ann"),
            ("LightQ:Password", "secret"),
            ("LightQ:ClientName", "billing"),
            ("LightQ:ConnectTimeout", "00:00:07"),
            ("LightQ:WaitForBroker", "true"),
            ("LightQ:ReconnectDelay", "00:00:00.200"),
            ("LightQ:MaxReconnectDelay", "00:00:09"),
            ("LightQ:ReceiveMode", "async")
        );
        Assert.Equal(
            new LightQClientOptions
            {
                Host = "queue",
                DataPort = 6002,
                ControlPort = 6003,
                User = "ann",
                Password = "secret",
                ClientName = "billing",
                ConnectTimeout = TimeSpan.FromSeconds(7),
                WaitForBroker = true,
                ReconnectDelay = TimeSpan.FromMilliseconds(200),
                MaxReconnectDelay = TimeSpan.FromSeconds(9),
                ReceiveMode = ReceiveMode.Async,
            },
            options
        );
    }

    [Fact]
    public async Task Other_brokers_are_written_as_in_a_connection_string()
    {
        LightQClientOptions options = await ReadAsync(
            ("LightQ:Host", "n1"),
            ("LightQ:OtherBrokers", "n2:6000,n3?control=6001,6002")
        );
        Assert.Equal("lightq://n1:5700,n2:6000,n3:5700?control=5701,6001,6002", options.ToString());
    }

    [Theory]
    [InlineData("LightQ:OtherBrokers", "ann@n2", "'LightQ:OtherBrokers' is 'ann@n2': Brokers like n2:5700,n3:5700")]
    [InlineData("LightQ:DataPort", "99999", "'LightQ:DataPort' is '99999': A port is between 1 and 65,535.")]
    [InlineData("LightQ:DataPort", "many", "'LightQ:DataPort' is 'many': A whole number is wanted.")]
    [InlineData(
        "LightQ:ConnectTimeout",
        "5",
        "'LightQ:ConnectTimeout' is '5': A time like 00:00:05 is wanted: hours, minutes and seconds."
    )]
    [InlineData(
        "LightQ:ConnectTimeout",
        "00:00:00",
        "'LightQ:ConnectTimeout' is '00:00:00': The time must be above zero."
    )]
    [InlineData("LightQ:WaitForBroker", "maybe", "'LightQ:WaitForBroker' is 'maybe': True or false is wanted.")]
    [InlineData(
        "LightQ:ReceiveMode",
        "Sometimes",
        "'LightQ:ReceiveMode' is 'Sometimes': One of Thread, Async is wanted."
    )]
    [InlineData(
        "LightQ:Prot",
        "1",
        "'LightQ:Prot' is no setting of a client; those are ConnectionString, CertificateAuthorityFile, "
            + "ClientCertificateFile, ClientKeyFile, ClientName,"
    )]
    [InlineData("Other", "1", "There is nothing at 'LightQ' in the configuration;")]
    [InlineData("LightQ:OtherBrokers:0", "n2", "'LightQ:OtherBrokers' has values inside it; one value is wanted.")]
    [InlineData("LightQ", "", "There is nothing at 'LightQ' in the configuration;")]
    [InlineData("LightQ:ConnectionString", "", "There is nothing at 'LightQ' in the configuration;")]
    public async Task What_is_wrong_is_told_with_key_value_and_what_is_allowed(
        string key,
        string value,
        string expected
    )
    {
        OptionsValidationException refused = await Assert.ThrowsAsync<OptionsValidationException>(() =>
            ReadAsync((key, value))
        );
        Assert.StartsWith(expected, refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("LightQ", "http://ann:secret@queue")]
    [InlineData("LightQ:ConnectionString", "lightq://ann:secret@queue:0")]
    public async Task A_connection_string_that_is_wrong_is_told_without_its_password(string key, string value)
    {
        OptionsValidationException refused = await Assert.ThrowsAsync<OptionsValidationException>(() =>
            ReadAsync((key, value))
        );
        Assert.StartsWith($"'{key}' is wrong: ", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", refused.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Two_names_of_a_broker_are_refused_and_the_same_name_twice_is_one()
    {
        OptionsValidationException refused = await Assert.ThrowsAsync<OptionsValidationException>(() =>
            ReadAsync(("LightQ", "lightq://queue"), ("LightQ:ConnectionString", "lightq://other"))
        );
        Assert.Equal(
            "'LightQ' and 'LightQ:ConnectionString' both name a broker: leave one empty, so that it is clear which is "
                + "meant.",
            refused.Message
        );
        await Assert.ThrowsAsync<OptionsValidationException>(() =>
            ReadAsync(("LightQ:ConnectionString", "lightq://queue"), ("LightQ:OtherBrokers", "n2"))
        );
        LightQClientOptions read = await ReadAsync(
            ("LightQ", "lightq://queue"),
            ("LightQ:ConnectionString", "lightq://queue"),
            ("LightQ:User", "ann"),
            ("LightQ:Token", "")
        );
        Assert.Equal(("queue", "ann", null), (read.Host, read.User, read.Token));
    }

    [Fact]
    public async Task Secrets_may_be_in_files_that_are_named_once()
    {
        LightQClientOptions read = await ReadAsync(
            ("LightQ:ConnectionString", "lightq://ann@queue?password-file=/run/p%40ss"),
            ("LightQ:WaitForBroker", "true")
        );
        Assert.Equal(("ann", "/run/p@ss"), (read.User, read.PasswordFile));
        Assert.Equal(
            "/run/token",
            (await ReadAsync(("LightQ:Host", "queue"), ("LightQ:TokenFile", "/run/token"))).TokenFile
        );
        OptionsValidationException two = await Assert.ThrowsAsync<OptionsValidationException>(() =>
            ReadAsync(("LightQ:ConnectionString", "lightq://queue?token=a"), ("LightQ:TokenFile", "/run/token"))
        );
        Assert.Equal("Token and TokenFile are given: give one of them.", two.Message);
        OptionsValidationException nobody = await Assert.ThrowsAsync<OptionsValidationException>(() =>
            ReadAsync(("LightQ:Host", "queue"), ("LightQ:PasswordFile", "/run/password"))
        );
        Assert.Equal("PasswordFile is given without a user: give User, too.", nobody.Message);
    }

    [Fact]
    public async Task A_client_of_a_name_that_the_configuration_has_not_is_not_made()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        using IHost host = builder.AddLightQClient("queue").Build();
        OptionsValidationException refused = await Assert.ThrowsAsync<OptionsValidationException>(() =>
            host.StartAsync(TestContext.Current.CancellationToken)
        );
        Assert.Equal(
            "The configuration has no ConnectionStrings:queue, for example \"lightq://localhost\".",
            refused.Message
        );
    }

    [Fact]
    public async Task Options_are_those_of_the_framework_by_the_name_of_the_key()
    {
        await using ServiceProvider services = new ServiceCollection()
            .AddSingleton("from a service")
            .ConfigureLightQ((provider, options) => options with { ClientName = provider.GetRequiredService<string>() })
            .AddLightQ("lightq://plain")
            .AddKeyedLightQ("audit", "lightq://audit")
            .BuildServiceProvider();
        Assert.Equal("from a service", services.GetRequiredService<LightQClient>().Options.ClientName);
        Assert.Equal("plain", services.GetRequiredService<IOptions<LightQClientOptions>>().Value.Host);
        var all = services.GetRequiredService<IOptionsMonitor<LightQClientOptions>>();
        Assert.Equal("audit", all.Get("audit").Host);
        Assert.Contains(
            "'billing'",
            Assert.Throws<InvalidOperationException>(() => all.Get("billing")).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task There_is_one_client_and_the_last_word_has_the_delegate()
    {
        await using ServiceProvider services = new ServiceCollection()
            .AddLightQ("lightq://queue", options => options with { ClientName = "billing" })
            .BuildServiceProvider();
        var client = services.GetRequiredService<LightQClient>();
        Assert.Same(client, services.GetRequiredService<LightQClient>());
        Assert.Equal(("queue", "billing"), (client.Options.Host, client.Options.ClientName));
    }

    [Theory]
    [InlineData("returns", "billing", null, "the processor of 'returns' for group 'billing', which is not")]
    [InlineData("orders", "bills", null, "the processor of 'orders' for group 'bills', which is not")]
    [InlineData("orders", "billing", "audit", "of 'orders' for group 'billing' with the client 'audit', which is not")]
    public async Task Options_of_a_processor_that_is_not_registered_fail_the_start(
        string topic,
        string group,
        string? clientKey,
        string wrong
    )
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder
            .Services.ConfigureLightQProcessor(topic, group, builder.Configuration.GetSection("Worker"), clientKey)
            .AddLightQ("lightq://nowhere.invalid")
            .AddLightQTopic(new TopicSpec("orders"))
            .AddLightQProcessor<Handler>("orders", "billing");
        using IHost host = builder.Build();
        OptionsValidationException refused = await Assert.ThrowsAsync<OptionsValidationException>(() =>
            host.StartAsync(TestContext.Current.CancellationToken)
        );
        Assert.Contains(wrong, refused.Message, StringComparison.Ordinal);
        Assert.EndsWith(
            "registered. Registered: the processor of 'orders' for group 'billing'.",
            refused.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task Wrong_options_of_a_processor_fail_as_those_of_a_client()
    {
        IConfigurationRoot configuration = new ConfigurationBuilder()
            .AddInMemoryCollection([KeyValuePair.Create("Worker:MaxConcurency", (string?)"8")])
            .Build();
        await using ServiceProvider services = new ServiceCollection()
            .AddLogging()
            .AddLightQ("lightq://nowhere.invalid")
            .AddLightQProcessor<Handler>("orders", "billing")
            .ConfigureLightQProcessor("orders", "billing", configuration.GetSection("Worker"))
            .BuildServiceProvider();
        OptionsValidationException refused = Assert.Throws<OptionsValidationException>(() =>
            services.GetServices<IHostedService>().ToArray()
        );
        Assert.StartsWith("'Worker:MaxConcurency' is no setting of a processor", refused.Message);
    }

    [Fact]
    public async Task Options_of_a_client_that_is_not_registered_fail_the_start()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder
            .Services.ConfigureLightQ((_, options) => options, "audits")
            .AddLightQ("lightq://replaced")
            .AddLightQ("lightq://plain")
            .AddKeyedLightQ("audit", "lightq://audit");
        using IHost host = builder.Build();
        OptionsValidationException refused = await Assert.ThrowsAsync<OptionsValidationException>(() =>
            host.StartAsync(TestContext.Current.CancellationToken)
        );
        Assert.Equal(
            "ConfigureLightQ is called for the client 'audits', which is not registered. Registered: the client "
                + "without a key, the client 'audit'.",
            refused.Message
        );
    }

    [Fact]
    public void Two_keys_of_the_same_text_are_refused_as_their_options_would_be_one()
    {
        IServiceCollection services = new ServiceCollection().AddKeyedLightQ("1", "lightq://a");
        services.AddKeyedLightQ("1", "lightq://b"); // The same key again: the last counts, as of all services.
        Assert.Contains(
            "key with the text '1'",
            Assert.Throws<ArgumentException>(() => services.AddKeyedLightQ(1, "lightq://c")).Message,
            StringComparison.Ordinal
        );
    }

    private static async Task<LightQClientOptions> ReadAsync(params (string Key, string Value)[] settings)
    {
        await using ServiceProvider services = Add(settings).BuildServiceProvider();
        return services.GetRequiredService<LightQClient>().Options;
    }

    private static IServiceCollection Add(params (string Key, string Value)[] settings)
    {
        IConfigurationRoot configuration = new ConfigurationBuilder()
            .AddInMemoryCollection(settings.Select(s => KeyValuePair.Create(s.Key, (string?)s.Value)))
            .Build();
        return new ServiceCollection().AddLightQ(configuration.GetSection("LightQ"));
    }

    private sealed class Handler : IMessageHandler
    {
        public Task HandleAsync(ProcessMessageEventArgs args) => Task.CompletedTask;
    }
}
