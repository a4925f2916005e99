using LightQ.Bench;
using LightQ.Bench.Figures;
using LightQ.Bench.Roles;
using LightQ.Bench.Sessions;
using LightQ.Cli.Quickstart;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Cli.Quickstart;

/// <summary>What the first table a user sees is made of.</summary>
public sealed class TourRoundsTests
{
    private static readonly LoadShape Transient = new(TopicKind.Transient, 100),
        Durable = new(TopicKind.Durable, 100);

    [Fact]
    public async Task Every_shape_is_warmed_up_before_any_is_measured_and_then_all_take_turns()
    {
        var order = new List<(LoadShape, int)>();

        await TourRounds.RunAsync(
            [Transient, Durable],
            (shape, round) =>
            {
                order.Add((shape, round));
                return Task.FromResult(Outcome(1));
            }
        );

        Assert.Equal(
            [
                (Transient, 0),
                (Durable, 0),
                (Transient, 1),
                (Durable, 1),
                (Transient, 2),
                (Durable, 2),
                (Transient, 3),
                (Durable, 3),
            ],
            order
        );
    }

    [Fact]
    public async Task Code_that_is_not_compiled_for_speed_yet_makes_no_shape_the_slower_one()
    {
        // As measured: all are slow in the first two runs of the processes; then transient is twice as fast as durable.
        int runs = 0;

        IReadOnlyList<TourRuns> results = await TourRounds.RunAsync(
            [Transient, Durable],
            (shape, _) => Task.FromResult(Outcome((shape == Transient ? 8 : 4) * (++runs <= 2 ? 0.25 : 1)))
        );

        Assert.Equal([(Transient, 8), (Durable, 4)], results.Select(r => (r.Shape, r.MessagesPerSecond)));
    }

    [Fact]
    public void A_message_that_is_lost_in_a_warm_up_is_a_lost_message()
    {
        var moved = new TourRuns(Transient, Outcome(1, lost: 1), [Outcome(1), Outcome(3, lost: 2), Outcome(2)]);
        RunOutcome Paced(long lost, double p50) =>
            Outcome(1, lost) with
            {
                Consumed = new RoleMessage
                {
                    Lost = lost,
                    LatencyUs = new LatencyFigures { P50 = p50 },
                },
            };

        var run = QuickstartRun.Of(new BenchSettings(), 1000, moved, [Paced(4, 900), Paced(8, 70)]);

        Assert.Equal((2, 70, 15), (run.MessagesPerSecond, run.LatencyP50Us, run.Lost));
    }

    private static RunOutcome Outcome(double rate, long lost = 0) =>
        new()
        {
            MessagesPerSecond = rate,
            Consumed = new RoleMessage { Lost = lost },
        };
}
