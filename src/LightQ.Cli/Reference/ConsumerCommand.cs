using System.CommandLine;
using LightQ.Cli.Options;

namespace LightQ.Cli.Reference;

/// <summary><c>lightq consumer</c>: the other end of the reference documents' test.</summary>
internal static class ConsumerCommand
{
    public static Command Create()
    {
        var common = new TransferOptions();
        Option<string?> connection = new("--connection", "-c")
        {
            Description =
                "socket or zmq: both mean LightQ's data plane, and are taken so that the documents' command lines "
                + "work.",
            HelpName = "socket|zmq",
        };
        connection.AcceptOnlyFromAmong("socket", "zmq");
        var command = new ExampleCommand(
            "consumer",
            "Consume what a producer publishes, check every message, and print the lines of the reference documents, "
                + "then exact ones with the latency of single messages. "
                + "Latency is taken from the machine's monotonic clock, so the producer must run on the same machine. "
                + "On a durable topic it goes on where the last consumer ended.",
            "lightq consumer -m 10000000 -n 1",
            "lightq consumer -c socket -m 10000000 -n 1",
            "lightq consumer -m 1000000 --style myq"
        )
        {
            connection,
        };
        common.AddTo(command);
        command.SetAction(
            (parsed, cancellationToken) => new ConsumerJob(common.Read(parsed)).RunAsync(cancellationToken)
        );
        return command;
    }
}
