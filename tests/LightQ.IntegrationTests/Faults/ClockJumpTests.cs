using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// D1.clock: the wall clock jumps, forwards and backwards, under load, and the broker is killed behind that.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D1.clock")]
[Trait("Tier", "N")]
public sealed class ClockJumpTests
{
    private const string Row = "D1.clock",
        Control = "jumps";

    // A name that rests for 24 hours is forgotten: between two of these, and half a day back, lie less.
    private static readonly TimeSpan[] Aheads =
    [
        TimeSpan.Zero,
        TimeSpan.FromSeconds(2),
        TimeSpan.FromMinutes(-1),
        TimeSpan.FromHours(1),
        TimeSpan.FromHours(-1),
        TimeSpan.FromHours(11),
        TimeSpan.FromHours(-11),
    ];

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task Nothing_acknowledged_is_lost_when_the_wall_clock_jumps()
    {
        FaultRun.RequireLongRun("It sets clocks and kills for half an hour.");
        WallClock.Require();
        await CheckClockAsync();
        var run = new FaultRun(
            Row,
            "the wall clock jumps by up to 22 hours, forwards and backwards, under load; kill -9 up to 300 ms later"
        );
        using var directory = new TemporaryDirectory();
        var clock = new WallClock(directory.Path);
        var cycles = new CrashCycles(run, Row, (variant, _) => new FaultLoad(variant, Durability.Written), Control)
        {
            Variables = clock.Variables,
        };
        await cycles.RunAsync(
            0,
            500,
            directory.Path,
            async (broker, random) =>
            {
                Jump(random);
                await Task.Delay(random.Next(300), TestContext.Current.CancellationToken);
                await broker.KillAsync();
                if (random.Next(2) == 0)
                    Jump(random); // While it is down.
            }
        );
        cycles.Conclude();

        void Jump(Random random)
        {
            clock.Set(Aheads[random.Next(Aheads.Length)]);
            cycles.Count(Control);
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    public async Task What_is_delayed_comes_once_within_a_minute_when_the_clock_jumps_over_its_time_and_back()
    {
        FaultRun.RequireLongRun("The broker looks at its clock once a minute.");
        WallClock.Require();
        using var directory = new TemporaryDirectory();
        var clock = new WallClock(directory.Path);
        await using var broker = new FaultBroker(Path.Combine(directory.Path, "data")) { Variables = clock.Variables };
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Durable }, Cancel);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancel);
        await producer.PublishAsync(
            new byte[] { 1 },
            new PublishOptions { Delay = TimeSpan.FromHours(1) },
            cancellationToken: Cancel
        );
        clock.Set(TimeSpan.FromHours(2));
        await Eventually.TrueAsync(async () => await EndAsync() == 2, Patience, () => "it is not delivered");
        clock.Set(TimeSpan.Zero);
        await broker.KillAsync();
        await broker.StartAsync();
        await producer.PublishAsync(
            new byte[] { 2 },
            new PublishOptions { Delay = TimeSpan.FromMilliseconds(100) },
            cancellationToken: Cancel
        );
        await Eventually.TrueAsync(
            async () => await EndAsync() == 4,
            Patience,
            () => "what was published later is not delivered"
        );
        Assert.Equal([1, 2], await BodiesAsync(2));

        async Task<long> EndAsync() => (await client.Topics.GetAsync("t", Cancel)).EndOffsets[0];

        async Task<List<byte>> BodiesAsync(int count)
        {
            List<byte> bodies = [];
            await foreach (
                Message message in client
                    .ConsumeAsync("t", new ConsumeOptions { Start = StartPosition.Earliest })
                    .WithCancellation(Cancel)
            )
            {
                bodies.Add(message.Body.Span[0]);
                if (bodies.Count == count)
                    break;
            }
            return bodies;
        }
    }

    /// <summary>The control: a broker that runs sees its clock jump.</summary>
    private static async Task CheckClockAsync()
    {
        using var directory = new TemporaryDirectory();
        var clock = new WallClock(directory.Path);
        await using var broker = new FaultBroker(Path.Combine(directory.Path, "data")) { Variables = clock.Variables };
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        foreach (int hours in new[] { 11, -11 })
        {
            clock.Set(TimeSpan.FromHours(hours));
            TopicInfo made = await client.Topics.CreateAsync(
                new TopicSpec($"t{hours + 11}") { Kind = TopicKind.Transient },
                Cancel
            );
            Assert.Equal(DateTimeOffset.UtcNow.AddHours(hours), made.CreateTime, TimeSpan.FromHours(1));
        }
    }
}
