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
    public async Task What_is_delayed_comes_once_and_not_before_its_time_by_a_broker_that_runs()
    {
        FaultRun.RequireLongRun("It sets clocks.");
        WallClock.Require();
        using var directory = new TemporaryDirectory();
        var clock = new WallClock(directory.Path);
        await using var broker = new FaultBroker(Path.Combine(directory.Path, "data")) { Variables = clock.Variables };
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Durable }, Cancel);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancel);
        await PublishAsync(1, TimeSpan.FromHours(1));

        // A step is not followed: the later one of a moment comes, the earlier one of an hour does not.
        clock.Set(TimeSpan.FromHours(2));
        await PublishAsync(2, TimeSpan.FromMilliseconds(100));
        await Eventually.TrueAsync(async () => await EndAsync() == 3, Patience, () => "a moment's delay does not end");

        // A broker that starts has nothing but the machine's clock.
        await broker.KillAsync();
        await broker.StartAsync();
        await Eventually.TrueAsync(async () => await EndAsync() == 4, Patience, () => "an hour's delay does not end");
        await PublishAsync(3, TimeSpan.FromMilliseconds(100));
        await Eventually.TrueAsync(async () => await EndAsync() == 6, Patience, () => "it delivers nothing more");
        Assert.Equal([2, 1, 3], await BodiesAsync(3));

        async Task PublishAsync(byte body, TimeSpan delay) =>
            await producer.PublishAsync(
                new[] { body },
                new PublishOptions { Delay = delay },
                cancellationToken: Cancel
            );

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

    /// <summary>The control: a broker that starts sees the clock, and one that runs does not follow its steps.</summary>
    private static async Task CheckClockAsync()
    {
        using var directory = new TemporaryDirectory();
        var clock = new WallClock(directory.Path);
        await using var broker = new FaultBroker(Path.Combine(directory.Path, "data")) { Variables = clock.Variables };
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        int topics = 0;
        await CheckAsync(0);
        foreach (int hours in new[] { 11, -11 })
        {
            int before = hours > 0 ? 0 : 11;
            clock.Set(TimeSpan.FromHours(hours));
            await CheckAsync(before);
            await broker.KillAsync();
            await broker.StartAsync();
            await CheckAsync(hours);
        }

        async Task CheckAsync(int hours)
        {
            TopicInfo made = await client.Topics.CreateAsync(
                new TopicSpec($"t{topics++}") { Kind = TopicKind.Transient },
                Cancel
            );
            Assert.Equal(DateTimeOffset.UtcNow.AddHours(hours), made.CreateTime, TimeSpan.FromHours(1));
        }
    }
}
