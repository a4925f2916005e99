using System.Collections.Concurrent;
using LightQ.Broker.Groups;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace LightQ.IntegrationTests.Delivery;

/// <summary>
/// What becomes of a message is told by the exception of its handler, and how many run by the configuration.
/// </summary>
public sealed class ProcessorRetryTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Some_failures_are_dead_lettered_at_once_some_tried_again_later_and_others_as_the_topic_says()
    {
        var time = new ManualTime();
        // Connections keep the machine's clock: no peer answers within a jump.
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                TimeProvider = time,
                ConnectionTime = TimeProvider.System,
            }
        );
        using var log = new RecordedLog();
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddSingleton<Attempts>();
        builder.Services.AddLightQ(
            server.ConnectionString,
            o => o with { TimeProvider = time, ConnectionTime = TimeProvider.System, LoggerFactory = log }
        );
        builder.Services.AddLightQTopic(
            new TopicSpec("orders")
            {
                Kind = TopicKind.Durable,
                RetryDelay = TimeSpan.Zero,
                MaxDeliveries = 3,
            }
        );
        builder.Services.AddLightQProcessor<Handler, string>(
            "orders",
            "g",
            options: new ProcessorOptions
            {
                Retries =
                [
                    RetryRule.DeadLetter<FormatException>(),
                    RetryRule.After<TimeoutException>(TimeSpan.FromMinutes(1)),
                ],
            }
        );
        builder.Services.ConfigureLightQProcessor("orders", "g", builder.Configuration.GetSection("Worker"));
        // Behind the registration: the section is read when the processor is made.
        builder.Configuration.AddInMemoryCollection([KeyValuePair.Create("Worker:MaxConcurrency", (string?)"3")]);
        using IHost host = builder.Build();
        await host.StartAsync(Cancelled);
        LightQClient client = host.Services.GetRequiredService<LightQClient>();
        Attempts attempts = host.Services.GetRequiredService<Attempts>();
        foreach (string body in (string[])["format", "timeout", "other"])
            await client.PublishAsync("orders", body, cancellationToken: Cancelled);

        await Eventually.TrueAsync(
            () => attempts.Of("other") == 3 && attempts.Of("format") == 1 && attempts.Of("timeout") == 1,
            Patience,
            () => attempts.ToString()
        );
        IReadOnlyList<string> reasons = [];
        await Eventually.TrueAsync(
            async () =>
            {
                LetterPage page = await client.DeadLetters.ListPageAsync("orders", "g", null, Cancelled);
                reasons = [.. page.Letters.Select(l => $"{l.Deliveries} {l.Reason}")];
                return reasons.Count == 2;
            },
            Patience,
            () => string.Join(", ", reasons)
        );
        Assert.Contains("1 FormatException: format", reasons);
        Assert.Contains(
            reasons,
            r => r.StartsWith("3 ", StringComparison.Ordinal) && r.EndsWith("other", StringComparison.Ordinal)
        );
        Assert.Equal(1, attempts.Of("timeout"));
        Assert.Single(await log.HasAsync("delivery 1 of 3). It is dead-lettered.", 1));
        Assert.Single(await log.HasAsync("delivery 1 of 3). It is redelivered in 60 s.", 1));
        // Its minute begins when the broker is told of the failure.
        Group group = server.Broker.GetTopic("orders").Partitions[0].Groups().Single(g => g.Name == "g");
        await Eventually.TrueAsync(
            () => group.Figures().RedeliveriesDelayed == 1,
            Patience,
            () => group.Figures().ToString()
        );
        time.Advance(TimeSpan.FromSeconds(59));
        Assert.Equal(1, group.Figures().RedeliveriesDelayed);
        time.Advance(TimeSpan.FromSeconds(2));
        await Eventually.TrueAsync(() => attempts.Of("timeout") == 2, Patience, () => attempts.ToString());
        await host.StopAsync(Cancelled);
    }

    private sealed class Attempts
    {
        private readonly ConcurrentDictionary<string, int> _counts = new();

        public void Count(string body) => _counts.AddOrUpdate(body, 1, static (_, count) => count + 1);

        public int Of(string body) => _counts.GetValueOrDefault(body);

        public override string ToString() => string.Join(", ", _counts);
    }

    private sealed class Handler(Attempts attempts) : IMessageHandler<string>
    {
        public Task HandleAsync(string value, ProcessMessageEventArgs args)
        {
            attempts.Count(value);
            throw value switch
            {
                "format" => new FormatException(value),
                "timeout" => new TimeoutException(value),
                _ => new InvalidOperationException(value),
            };
        }
    }
}
