using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server.Audit;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>Somebody sets the clock of the machine that a broker runs on.</summary>
public sealed class ClockTests
{
    private const int Messages = 2000;

    private static readonly TimeSpan Hour = TimeSpan.FromHours(1),
        Second = TimeSpan.FromSeconds(1);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task A_clock_that_is_set_for_some_seconds_deletes_nothing_and_is_told(int hours)
    {
        var machine = new ManualTime();
        await using TestServer server = await StartAsync(machine);
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, RetentionAge = TimeSpan.FromMinutes(30) },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        for (int i = 0; i < Messages; i++)
            _ = producer.PublishAsync(new byte[1000], cancellationToken: Cancelled).AsTask();
        await producer.FlushAsync(Cancelled);
        machine.Set = hours * Hour;
        Pass(machine, TimeSpan.FromSeconds(8));
        string text = hours > 0 ? "+01:00:00" : "-01:00:00";
        Assert.Equal(
            $"ready, degraded: the machine's clock was set by {text} and the broker goes by its own time\n",
            await server.Web.GetStringAsync("/healthz/ready", Cancelled)
        );
        machine.Set = TimeSpan.Zero;
        Pass(machine, TimeSpan.FromSeconds(2));
        Assert.Equal("ready\n", await server.Web.GetStringAsync("/healthz/ready", Cancelled));
        Assert.Equal([0], (await client.Topics.GetAsync("t", Cancelled)).StartOffsets);
        string[] told =
        [
            .. server.Log.Lines.Select(l => l.Message).Where(m => m.Contains(text, StringComparison.Ordinal)),
        ];
        Assert.Equal(2, told.Length);
        Assert.StartsWith($"The machine's clock was set by {text}.", told[0], StringComparison.Ordinal);
        Assert.StartsWith("The machine's clock goes again", told[1], StringComparison.Ordinal);

        // What is old goes all the same.
        Pass(machine, TimeSpan.FromMinutes(31));
        await Eventually.TrueAsync(
            async () =>
            {
                Pass(machine, Second);
                return (await client.Topics.GetAsync("t", Cancelled)).StartOffsets[0] == Messages;
            },
            TimeSpan.FromSeconds(30),
            () => "nothing is deleted"
        );
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task A_clock_that_is_set_changes_no_window_and_no_time_to_live_also_when_that_lasts(int hours)
    {
        var machine = new ManualTime();
        await using TestServer server = await StartAsync(machine);
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, DedupWindow = TimeSpan.FromMinutes(40) },
            Cancelled
        );
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        var once = new PublishOptions { MessageId = "a", TimeToLive = TimeSpan.FromMinutes(40) };
        await producer.PublishAsync(new byte[1], once, cancellationToken: Cancelled);

        machine.Set = hours * Hour;
        await LiveAsync(TimeSpan.FromSeconds(8)); // The step is seen.
        await HoldsAsync();
        await LiveAsync(TimeSpan.FromMinutes(11)); // It is taken over.
        Assert.Contains(server.Log.Lines, l => l.Message.Contains("that has lasted", StringComparison.Ordinal));
        await HoldsAsync();
        await LiveAsync(TimeSpan.FromMinutes(27));
        await HoldsAsync();
        await LiveAsync(TimeSpan.FromMinutes(hours > 0 ? 4 : 64));
        Assert.False((await producer.PublishAsync(new byte[1], once, cancellationToken: Cancelled)).IsDuplicate);
        Assert.Equal(StoredMessageState.Expired, (await FirstAsync()).State);

        async Task HoldsAsync()
        {
            Assert.True((await producer.PublishAsync(new byte[1], once, cancellationToken: Cancelled)).IsDuplicate);
            await using var messages = client
                .ConsumeAsync("t", new ConsumeOptions { Start = StartPosition.Earliest }, Cancelled)
                .GetAsyncEnumerator(Cancelled);
            Assert.True(await messages.MoveNextAsync());
        }

        async Task<StoredMessage> FirstAsync()
        {
            BrowsePage page = await client.Messages.BrowsePageAsync("t", new BrowseOptions(), null, Cancelled);
            return page.Messages[0];
        }

        async Task LiveAsync(TimeSpan time)
        {
            for (; time > TimeSpan.Zero; time -= Second * 4)
            {
                machine.Advance(Second * 4);
                await server.Web.GetStringAsync("/healthz/ready", Cancelled); // Looks at the clock.
            }
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public async Task A_clock_that_is_set_ends_and_prolongs_no_token_and_dates_nothing_before_it_is_taken_over(
        int hours
    )
    {
        var machine = new ManualTime();
        DateTimeOffset began = machine.GetUtcNow();
        await using TestServer server = await StartAsync(machine);
        string anyone = server.ConnectionString;
        await using var admin = new LightQClient(
            anyone.Replace("lightq://", $"lightq://admin:{server.AdminPassword}@", StringComparison.Ordinal)
        );
        await admin.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Durable }, Cancelled);
        await admin.Users.CreateAsync("ann", "a long enough password", Cancelled);
        CreatedToken token = await admin.Users.CreateTokenAsync(
            "ann",
            TimeSpan.FromMinutes(30),
            cancellationToken: Cancelled
        );

        machine.Set = hours * Hour;
        Pass(machine, TimeSpan.FromSeconds(8));
        Assert.True(await OpensAsync());
        await admin.Users.CreateAsync("bob", "a long enough password", Cancelled);
        Assert.InRange((await admin.Stats.GetBrokerAsync(Cancelled)).Time, began, began.AddMinutes(1));
        Assert.InRange((await admin.Stats.GetTopicAsync("t", Cancelled)).Time, began, began.AddMinutes(1));

        Pass(machine, TimeSpan.FromMinutes(11));
        Assert.InRange(
            (await admin.Stats.GetBrokerAsync(Cancelled)).Time,
            began.AddMinutes(10) + (hours * Hour),
            began.AddMinutes(13) + (hours * Hour)
        );
        Assert.True(await OpensAsync());
        Pass(machine, TimeSpan.FromMinutes(20));
        Assert.False(await OpensAsync());

        await server.Server.StopAsync();
        var lines = new List<AuditLine>();
        Assert.Null(AuditVerifier.Verify(server.Directory, read: lines.Add).Finding);
        DateTimeOffset[] made = [.. lines.Where(l => l.Event == "user-created").Select(l => l.Time)];
        Assert.Equal(2, made.Length);
        Assert.All(made, t => Assert.InRange(t, began, began.AddMinutes(1)));

        async Task<bool> OpensAsync()
        {
            await using var client = new LightQClient(LightQClientOptions.Parse(anyone) with { Token = token.Token });
            try
            {
                await client.Users.WhoAmIAsync(Cancelled);
                return true;
            }
            catch (LightQException e) when (e.Code == ErrorCode.Unauthenticated)
            {
                return false;
            }
        }
    }

    private static Task<TestServer> StartAsync(TimeProvider machine) =>
        TestServer.StartAsync(o => o with { TimeProvider = machine, ConnectionTime = TimeProvider.System });

    /// <summary>So much time passes, in steps of a second at most.</summary>
    private static void Pass(ManualTime machine, TimeSpan time)
    {
        for (; time > TimeSpan.Zero; time -= Second)
            machine.Advance(Second);
    }
}
