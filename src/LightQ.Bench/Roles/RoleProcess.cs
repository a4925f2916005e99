using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using LightQ.Bench.Processes;

namespace LightQ.Bench.Roles;

/// <summary>A role, seen from the parent.</summary>
internal sealed class RoleProcess : IAsyncDisposable
{
    /// <summary>The tool's command whose arguments are a role.</summary>
    public const string Command = "bench-role";

    private readonly ChildProcess _process;

    private RoleProcess(ChildProcess process) => _process = process;

    /// <summary>Starts a role.</summary>
    /// <param name="role">Which.</param>
    /// <param name="showErrors">Whether its standard error is this process's own.</param>
    /// <param name="arguments">What else it is told.</param>
    public static RoleProcess Start(string role, bool showErrors = false, params IEnumerable<string> arguments) =>
        new(ChildProcess.Start(role, [Command, role, .. arguments], showErrors));

    /// <summary>Tells it what to do.</summary>
    public Task SendAsync<T>(T what, JsonTypeInfo<T> type) => _process.SendAsync(JsonSerializer.Serialize(what, type));

    /// <summary>Gives it a word.</summary>
    public Task SendAsync(string word) => _process.SendAsync(word);

    /// <summary>Waits for its next message.</summary>
    /// <exception cref="BenchException">It failed, or it is gone.</exception>
    public async Task<RoleMessage> ExpectAsync(RoleEvent wanted, CancellationToken cancellationToken)
    {
        string line = await _process.ReadLineAsync(cancellationToken);
        RoleMessage message = JsonSerializer.Deserialize(line, RoleJson.Default.RoleMessage)!;
        if (message.Event == RoleEvent.Failed)
        {
            throw new BenchException(
                BenchFailure.Failed,
                message.Error ?? "A part of the bench failed without a message."
            );
        }

        return message.Event == wanted
            ? message
            : throw new BenchException(
                BenchFailure.Failed,
                $"A part of the bench reported {message.Event} where {wanted} was expected."
            );
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
