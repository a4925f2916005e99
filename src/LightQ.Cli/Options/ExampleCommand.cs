using System.CommandLine;

namespace LightQ.Cli.Options;

/// <summary>A command whose help shows how it is used.</summary>
internal class ExampleCommand : Command
{
    public ExampleCommand(string name, string description, params string[] examples)
        : base(name, description) => Examples = examples;

    /// <summary>Whole command lines.</summary>
    public IReadOnlyList<string> Examples { get; }
}
