using System.CommandLine;
using LightQ.Bench.Checks;
using LightQ.Cli.Options;

namespace LightQ.Cli.Reference;

/// <summary><c>lightq producer</c>: one end of the reference documents' test.</summary>
internal static class ProducerCommand
{
    private const int UsualSize = 100;

    public static Command Create()
    {
        var common = new TransferOptions();
        Option<int?> size = ValueOptions.Number("--size", MessagePattern.SmallestSize, "-s");
        size.Description = $"Bytes of a message. Default {UsualSize}.";
        var command = new ExampleCommand(
            "producer",
            "Publish as fast as it goes, in whole batches, and print the lines of the reference documents, then exact "
                + "ones. "
                + "Producer and consumer start in any order: the messages of a durable topic wait for the consumer; "
                + "the producer of a transient one waits for it itself.",
            "lightq topic create -n 1",
            "lightq producer -m 10000000 -n 1 -s 100",
            "lightq producer -m 1000000 --style myq"
        )
        {
            size,
        };
        common.AddTo(command);
        command.SetAction(
            (parsed, cancellationToken) =>
                new ProducerJob(common.Read(parsed), parsed.GetValue(size) ?? UsualSize).RunAsync(cancellationToken)
        );
        return command;
    }
}
