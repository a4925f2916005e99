using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Quickstart;

/// <summary><c>lightq quickstart</c>.</summary>
internal static class QuickstartCommand
{
    private const long UsualMessages = 1_000_000;

    public static Command Create()
    {
        Option<long?> messages = ValueOptions.Number("--messages", 1L);
        (messages.Description, messages.Hidden) = ("Messages of each run.", true);
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "quickstart",
            "Start a broker for a moment, move sixteen million messages through transient and durable topics in "
                + "turns, check every one, and show how fast it was.",
            "lightq quickstart"
        )
        {
            messages,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
                new Tour(parsed.GetValue(messages) ?? UsualMessages, parsed.GetValue(output)).RunAsync(
                    cancellationToken
                )
        );
        return command;
    }
}
