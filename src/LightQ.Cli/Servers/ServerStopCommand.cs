using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;

namespace LightQ.Cli.Servers;

/// <summary><c>lightq server stop</c>: has a broker stop, after its clients have finished if that is wanted.</summary>
internal static class ServerStopCommand
{
    public static Command Create()
    {
        Option<bool> drain = new("--drain")
        {
            Description =
                "Let clients finish first: nothing new is opened, what was sent is acknowledged, and members of "
                + "groups may settle what they hold.",
        };
        Option<TimeSpan?> timeout = ValueOptions.Duration("--timeout");
        timeout.Description = "With --drain: how long clients have, at most 10m. Default: 30s.";
        var command = new BrokerCommand(
            "stop",
            "Stop a broker over its control port, with the right admin. Returns when it has begun to stop; what it "
                + "has acknowledged is kept.",
            "lightq server stop",
            "lightq server stop --drain --timeout 30s"
        )
        {
            drain,
            timeout,
        };
        command.Validators.Add(result =>
        {
            if (result.GetResult(timeout) is not null && !result.GetValue(drain))
                result.AddError("--timeout needs --drain: without it the broker waits for no client.");
        });
        command.Run(async call =>
        {
            if (call.Get(drain))
                await DrainAsync(call, call.Get(timeout));
            else
                await call.Client.Operations.StopAsync(call.Cancellation);
            if (!call.IsJson)
                Console.Out.WriteLine("The broker is stopping.");
        });
        return command;
    }

    private static async Task DrainAsync(BrokerCall call, TimeSpan? timeout)
    {
        var console = new CommandConsole();
        StopProgress? last = null;
        await foreach (StopProgress progress in call.Client.Operations.DrainAndStopAsync(timeout, call.Cancellation))
        {
            last = progress;
            if (call.IsJson)
            {
                Console.Out.WriteLine(JsonSerializer.Serialize(progress, ServersJson.Default.StopProgress));
            }
            else
            {
                console.Progress(
                    $"{Describe(progress)}, "
                        + $"{progress.TimeLeft.TotalSeconds.ToString("0", CultureInfo.InvariantCulture)} s left"
                );
            }
        }
        console.EndProgress();
        if (!call.IsJson && last is not null)
        {
            Console.Out.WriteLine(
                last.Connections == 0
                    ? "Drained: every client has finished."
                    : $"The time is over: {Describe(last)} are cut off."
            );
        }
    }

    private static string Describe(StopProgress progress) =>
        $"{Plural.Of(progress.Connections, "client")}, {Plural.Of(progress.BusyProducers, "producer")} waiting for "
        + $"acks, {Plural.Of(progress.HeldMessages, "message")} held by groups";
}
