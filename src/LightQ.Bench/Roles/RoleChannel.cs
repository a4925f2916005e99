using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using System.Threading.Channels;
using LightQ.Bench.Processes;

namespace LightQ.Bench.Roles;

/// <summary>
/// A role's end of the talk with its parent: lines in, lines out. The process ends when the parent does.
/// </summary>
internal sealed class RoleChannel
{
    /// <summary>The parent's last line: it no longer needs the role.</summary>
    public const string Quit = "quit";

    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();
    private readonly Func<Exception, string> _explain;

    /// <param name="explain">Describes an exception to the parent: one line for people.</param>
    /// <param name="orphaned">
    /// The error to end with when the parent ends without <see cref="Quit"/>; null when that is no error.
    /// </param>
    public RoleChannel(Func<Exception, string> explain, string? orphaned)
    {
        _explain = explain;
        ParentLink.Read(Take, () => End(orphaned));
    }

    /// <summary>Waits for the parent's next line.</summary>
    public ValueTask<string> NextAsync() => _lines.Reader.ReadAsync();

    /// <summary>Waits for the parent's next line, which says what to do.</summary>
    public async ValueTask<T> NextAsync<T>(JsonTypeInfo<T> type) =>
        JsonSerializer.Deserialize(await NextAsync(), type)!;

    /// <summary>Tells the parent.</summary>
    public static void Say(RoleMessage message) =>
        Console.Out.WriteLine(JsonSerializer.Serialize(message, RoleJson.Default.RoleMessage));

    /// <summary>Tells the parent that a run failed, for a reason that may be expected.</summary>
    public void SayFailed(Exception exception) =>
        Say(new RoleMessage { Event = RoleEvent.Failed, Error = _explain(exception) });

    private void Take(string line)
    {
        if (line == Quit)
            End(error: null);
        _lines.Writer.TryWrite(line);
    }

    private static void End(string? error)
    {
        if (error is not null)
            Console.Error.WriteLine($"lightq: {error}");
        Environment.Exit(error is null ? 0 : 1);
    }
}
