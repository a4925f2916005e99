using System.Text.Json;
using LightQ.Cli.Output;

namespace LightQ.Cli.Reference;

/// <summary>Moves the messages of one end, and prints what it saw.</summary>
internal abstract class TransferJob(TransferSettings settings)
{
    protected TransferSettings Settings => settings;

    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        TransferResult[] results = await TransferAsync(new LostConnection(), cancellationToken);
        if (settings.Output == OutputFormat.Json)
        {
            CommandConsole.Line(JsonSerializer.Serialize(results, ReferenceJson.Default.TransferResultArray));
        }
        else
        {
            foreach (string line in results.SelectMany(r => Lines(r).Concat(ExactLines.Of(r))))
                CommandConsole.Line(line);
        }
        return results.All(r => r.IsSound) ? ExitCode.Ok : ExitCode.Failed;
    }

    /// <summary>Moves the messages of all topics at the same time.</summary>
    protected abstract Task<TransferResult[]> TransferAsync(
        LostConnection connections,
        CancellationToken cancellationToken
    );

    /// <summary>What the document prints of a topic.</summary>
    protected abstract IEnumerable<string> Lines(TransferResult result);
}
