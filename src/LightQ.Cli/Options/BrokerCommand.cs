using System.CommandLine;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Options;

/// <summary>
/// A command that asks a broker: it has <c>--server</c>, <c>--context</c> and <c>--output</c>, and a client while it
/// runs.
/// </summary>
internal sealed class BrokerCommand(string name, string description, params string[] examples)
    : ExampleCommand(name, description, examples)
{
    private readonly BrokerChoice _broker = new();
    private readonly Option<OutputFormat> _output = CommonOptions.Output();

    /// <summary>Adds these options behind what was added before, and says what the command does.</summary>
    /// <param name="act">What it does; the command ends well when this does.</param>
    public void Run(Func<BrokerCall, Task> act) =>
        Run(async call =>
        {
            await act(call);
            return ExitCode.Ok;
        });

    /// <summary>The same for a command whose exit code is part of its answer.</summary>
    /// <param name="act">What it does, and the exit code.</param>
    public void Run(Func<BrokerCall, Task<int>> act)
    {
        _broker.AddTo(this);
        Add(_output);
        SetAction(
            async (parsed, cancellationToken) =>
            {
                LightQClientOptions options = _broker.Read(parsed);
                await using var client = new LightQClient(options);
                bool isJson = parsed.GetValue(_output) == OutputFormat.Json;
                return await act(new BrokerCall(parsed, options, client, isJson, cancellationToken));
            }
        );
    }
}
