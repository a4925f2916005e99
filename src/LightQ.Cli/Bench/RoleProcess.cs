using System.Text.Json;
using LightQ.Cli.Bench.Fanout;
using LightQ.Cli.Bench.Roles;
using LightQ.Cli.Hosting;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench;

/// <summary>A role, seen from the parent.</summary>
internal sealed class RoleProcess : IAsyncDisposable
{
    private readonly ChildProcess _process;

    private RoleProcess(ChildProcess process) => _process = process;

    /// <summary>Starts a role.</summary>
    /// <param name="role">Which.</param>
    /// <param name="showErrors">Whether its standard error is this process's own.</param>
    /// <param name="arguments">What else it is told.</param>
    public static RoleProcess Start(string role, bool showErrors = false, params IEnumerable<string> arguments) => new(ChildProcess.Start(role, ["bench-role", role, .. arguments], showErrors));

    /// <summary>Gives it a run.</summary>
    public Task SendAsync(RunSpec spec) => _process.SendAsync(CliJson.Write(spec, CliJson.Default.RunSpec));

    /// <summary>Gives it its part of a fan-out.</summary>
    public Task SendAsync(FanoutSpec spec) => _process.SendAsync(CliJson.Write(spec, CliJson.Default.FanoutSpec));

    /// <summary>Gives it a word.</summary>
    public Task SendAsync(string word) => _process.SendAsync(word);

    /// <summary>Waits for its next message.</summary>
    /// <exception cref="CommandException">It failed, or it is gone.</exception>
    public async Task<RoleMessage> ExpectAsync(RoleEvent wanted, CancellationToken cancellationToken)
    {
        string line = await _process.ReadLineAsync(cancellationToken);
        RoleMessage message = JsonSerializer.Deserialize(line, CliJson.Default.RoleMessage)!;
        if (message.Event == RoleEvent.Failed)
            throw new CommandException(ExitCode.Failed, message.Error ?? "A part of the bench failed without a word.");
        return message.Event == wanted
            ? message
            : throw new CommandException(ExitCode.Failed, $"A part of the bench said {message.Event} where {wanted} was expected.");
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
