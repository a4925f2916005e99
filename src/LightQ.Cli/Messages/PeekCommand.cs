using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Messages;

/// <summary><c>lightq peek</c>: shows what a topic holds, and changes nothing.</summary>
internal static class PeekCommand
{
    private const long DefaultLast = 10,
        DefaultCount = 100;

    public static Command Create()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<StartPosition?> from = new("--from")
        {
            Description = "earliest, an offset, a time (2026-01-31T12:00:00Z) or an age (15m).",
            HelpName = "START",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                bool ok =
                    StartText.TryParse(text, DateTimeOffset.UtcNow, out StartPosition start)
                    && start != StartPosition.Latest
                    && start != StartPosition.Committed;
                return ValueOptions.Parsed(
                    result,
                    ok,
                    start,
                    $"'{text}' is neither earliest, an offset, a time nor an age."
                );
            },
        };
        Option<long?> last = ValueOptions.Number("--last", 1L);
        last.Description =
            $"Begin so many offsets before the end of each partition. Default: {DefaultLast}, "
            + "without --from and --key.";
        Option<string?> key = new("--key", "-k")
        {
            Description =
                "Only messages with this key, of the partition that it is routed to, or of the one that TOPIC names. "
                + "The broker reads what --from or --last says, or all, to find them.",
        };
        Option<long?> count = ValueOptions.Number("--count", 1L, "-n");
        count.Description = $"Show at most this many messages. Default: {DefaultCount}.";
        var show = new ShowOptions();
        var command = new BrokerCommand(
            "peek",
            "Show messages that a topic holds, without consuming them: nothing is settled, locked or moved. Delayed "
                + "and expired messages are shown, too. On a transient topic it shows what its ring still holds.",
            "lightq peek orders",
            "lightq peek orders/3 --from 1000 --count 20",
            "lightq peek orders --from 15m --format json",
            "lightq peek orders --key 42 --max-bytes 1MiB",
            "lightq peek images --last 1 --format hex"
        )
        {
            topic,
            from,
            last,
            key,
            count,
        };
        show.AddTo(command);
        command.Validators.Add(result =>
        {
            if (result.GetResult(from) is not null && result.GetResult(last) is not null)
                result.AddError("Give --from or --last, not both.");
        });
        command.Run(call =>
        {
            var options = new BrowseOptions
            {
                Partition = call.Required(topic).Partition,
                Start = call.Get(from) ?? default,
                Last = call.Get(last) ?? (call.Get(from) is null && call.Get(key) is null ? DefaultLast : null),
                Key = call.Get(key),
                MaxBodyBytes = show.MaxBodyBytes(call),
            };
            return ShowAsync(call, call.Required(topic), options, call.Get(count) ?? DefaultCount, show.Writer(call));
        });
        return command;
    }

    private static async Task ShowAsync(
        BrokerCall call,
        TopicAddress topic,
        BrowseOptions options,
        long count,
        StoredWriter writer
    )
    {
        var console = new CommandConsole();
        long scanned = 0;
        BrowsePage? page = null;
        do
        {
            options = options with { PageSize = (int)Math.Min(count - writer.Written, DefaultCount) };
            page = await call.Client.Messages.BrowsePageAsync(topic.Topic, options, page?.Next, call.Cancellation);
            console.EndProgress();
            foreach (MessageGap gap in page.Gaps)
                StoredWriter.Write(gap);
            foreach (StoredMessage message in page.Messages)
                writer.Write(message, page.Messages);
            scanned += page.Scanned;
            if (options.Key.HasValue && !page.IsLast)
            {
                string read = scanned.ToString("N0", CultureInfo.InvariantCulture);
                console.Progress($"{read} messages read, now at {page.Next.Partition}/{page.Next.Offset}");
            }
        } while (!page.IsLast && writer.Written < count);
        console.EndProgress();
        if (!page.IsLast)
        {
            console.Note($"There are more: lightq peek {topic.Topic}/{page.Next.Partition} --from {page.Next.Offset}");
        }
        else if (writer.Written == 0)
        {
            console.Note("There is no such message.");
        }
    }
}
