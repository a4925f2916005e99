using System.Text.Json;
using System.Threading.Channels;
using LightQ.Cli.Hosting;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench.Roles;

/// <summary>A role's end of the talk with its parent: lines in, lines out. The process ends when the parent does.</summary>
internal sealed class RoleChannel
{
    /// <summary>The parent's last line: it needs the role no more.</summary>
    public const string Quit = "quit";

    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();
    private readonly string? _orphaned;

    /// <param name="orphaned">The error to end with when the parent ends without <see cref="Quit"/>; null when that is no error.</param>
    public RoleChannel(string? orphaned = null)
    {
        _orphaned = orphaned;
        ParentLink.Read(Take, () => End(_orphaned));
    }

    /// <summary>Waits for the parent's next line.</summary>
    public ValueTask<string> NextAsync() => _lines.Reader.ReadAsync();

    /// <summary>Waits for the next run.</summary>
    public async ValueTask<RunSpec> NextRunAsync() => JsonSerializer.Deserialize(await NextAsync(), CliJson.Default.RunSpec)!;

    /// <summary>Tells the parent.</summary>
    public static void Say(RoleMessage message) => Console.Out.WriteLine(CliJson.Write(message, CliJson.Default.RoleMessage));

    /// <summary>Tells the parent that a run failed, for a reason that may be expected.</summary>
    public static void SayFailed(Exception exception)
    {
        string message = Failure.TryExplain(exception, out Failure failure) ? failure.Message : Failure.OneLine(exception.ToString());
        Say(new RoleMessage { Event = RoleEvent.Failed, Error = message });
    }

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
        Environment.Exit(error is null ? ExitCode.Ok : ExitCode.Failed);
    }
}
