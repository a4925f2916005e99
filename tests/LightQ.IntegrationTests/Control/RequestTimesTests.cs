using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Control;

public sealed class RequestTimesTests
{
    // Durations and timestamps come as two integers of which most pairs mean nothing.
    private static readonly (long Seconds, int Nanos)[] None =
    [
        (long.MaxValue, 0),
        (long.MinValue, 0),
        (0, int.MinValue),
        (0, 1_000_000_000),
        (1, -1),
    ];

    [Fact]
    public async Task Times_that_are_none_are_refused_by_their_names()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        foreach ((long seconds, int nanos) in None)
        {
            var time = new Timestamp { Seconds = seconds, Nanos = nanos };
            var duration = new Duration { Seconds = seconds, Nanos = nanos };
            await RefusedAsync(
                "time",
                () =>
                    server.Control.CallAsync<ResetGroupRequest, ResetGroupResponse>(
                        "ResetGroup",
                        new()
                        {
                            Topic = "orders",
                            Group = "workers",
                            Time = time,
                        }
                    )
            );
            await RefusedAsync(
                "retention_age",
                () => TopicsTests.CreateAsync(server, "bills", new TopicSettings { RetentionAge = duration })
            );
            await RefusedAsync(
                "lifetime",
                () =>
                    server.Control.CallAsync<CreateTokenRequest, CreateTokenResponse>(
                        "CreateToken",
                        new() { User = "admin", Lifetime = duration }
                    )
            );
            await RefusedAsync(
                "timeout",
                () =>
                    First(
                        server.Control.StreamAsync<StopRequest, StopProgress>(
                            "Stop",
                            new() { Drain = true, Timeout = duration }
                        )
                    )
            );
            await RefusedAsync(
                "interval",
                () =>
                    First(
                        server.Control.StreamAsync<WatchTopicStatsRequest, WatchTopicStatsResponse>(
                            "WatchTopicStats",
                            new() { Topic = "orders", Interval = duration }
                        )
                    )
            );
            await RefusedAsync(
                "interval",
                () =>
                    First(
                        server.Control.StreamAsync<WatchBrokerStatsRequest, WatchBrokerStatsResponse>(
                            "WatchBrokerStats",
                            new() { Interval = duration }
                        )
                    )
            );
        }

        async Task RefusedAsync(string name, Func<Task> call)
        {
            RpcException error = await ControlCalls.FailsAsync(call, StatusCode.InvalidArgument, "InvalidArgument");
            Assert.StartsWith($"{name} is ", error.Status.Detail, StringComparison.Ordinal);
            Assert.Contains("allowed: ", error.Status.Detail, StringComparison.Ordinal);
        }
    }

    private static async Task First<T>(IAsyncEnumerable<T> answers)
    {
        await foreach (T _ in answers.WithCancellation(TestContext.Current.CancellationToken))
            return;
    }
}
