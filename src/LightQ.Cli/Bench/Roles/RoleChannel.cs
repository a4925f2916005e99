using System.Text.Json;
using System.Threading.Channels;
using LightQ.Cli.Hosting;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench.Roles;

/// <summary>A role's end of the talk with its parent: lines in, lines out. The process ends when the parent does.</summary>
internal sealed class RoleChannel
{
    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();

    public RoleChannel() => ParentLink.Read(line => _lines.Writer.TryWrite(line), () => Environment.Exit(ExitCode.Ok));

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
}
