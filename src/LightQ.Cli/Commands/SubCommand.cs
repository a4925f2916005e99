using System.CommandLine;
using LightQ.Cli.Output;
using LightQ.Cli.Subscribing;
using LightQ.Client;

namespace LightQ.Cli.Commands;

/// <summary><c>lightq sub</c>: writes a topic's messages to standard output.</summary>
internal static class SubCommand
{
    public static Command Create()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<string?> group = new("--group", "-g") { Description = "Share the messages with the other members of this group.", HelpName = "NAME" };
        Option<StartPosition?> from = new("--from")
        {
            Description = "earliest, latest, an offset, a time (2026-01-31T12:00:00Z) or an age (15m). Default: latest; with a group, where it left off.",
            HelpName = "START",
            CustomParser = result =>
            {
                if (!StartText.TryParse(result.Tokens[0].Value, DateTimeOffset.UtcNow, out StartPosition start))
                    result.AddError($"'{result.Tokens[0].Value}' is neither earliest, latest, an offset, a time nor an age.");
                return start;
            },
        };
        Option<long?> count = new("--count", "-n") { Description = "Exit after this many messages.", HelpName = "N" };
        Option<TimeSpan?> idleExit = CommonOptions.Duration("--idle-exit");
        idleExit.Description = "Exit when nothing came for this long, for example 3s.";
        Option<MessageFormat> format = new("--format") { Description = "text; json; raw: the body and a newline, the inverse of pub --file; bytes: the body alone.", HelpName = "FORMAT" };
        Option<OutputFormat> output = CommonOptions.Output();
        Option<string?> server = CommonOptions.Server();
        var command = new ExampleCommand(
            "sub",
            "Write a topic's messages to standard output, until Ctrl-C.",
            "lightq sub orders --from earliest --format json",
            "lightq sub orders --from 15m --idle-exit 3s",
            "lightq sub orders --from earliest --count 1000 --format raw > lines.txt")
        {
            topic, group, from, count, idleExit, format, output, server,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(count) is <= 0)
                result.AddError("--count is above 0.");
        });
        command.SetAction((parsed, cancellationToken) =>
        {
            TopicAddress address = parsed.GetRequiredValue(topic);
            var job = new SubscribeJob
            {
                Client = CommonOptions.ClientOptions(parsed.GetValue(server)),
                Topic = address.Topic,
                Options = new ConsumeOptions { Group = parsed.GetValue(group), Partition = address.Partition, Start = parsed.GetValue(from) ?? default },
                Count = parsed.GetValue(count) ?? long.MaxValue,
                IdleExit = parsed.GetValue(idleExit),
                Format = parsed.GetValue(output) == OutputFormat.Json ? MessageFormat.Json : parsed.GetValue(format),
            };
            return job.RunAsync(cancellationToken);
        });
        return command;
    }
}
