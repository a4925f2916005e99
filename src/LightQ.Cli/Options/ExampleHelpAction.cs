using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;

namespace LightQ.Cli.Options;

/// <summary>The usual help, with examples at its end.</summary>
internal sealed class ExampleHelpAction(HelpAction help) : SynchronousCommandLineAction
{
    public override int Invoke(ParseResult parseResult)
    {
        int result = help.Invoke(parseResult);
        if (parseResult.CommandResult.Command is not ExampleCommand { Examples.Count: > 0 } command)
            return result;
        TextWriter output = parseResult.InvocationConfiguration.Output;
        output.WriteLine("Examples:");
        foreach (string example in command.Examples)
            output.WriteLine($"  {example}");
        output.WriteLine();
        return result;
    }
}
