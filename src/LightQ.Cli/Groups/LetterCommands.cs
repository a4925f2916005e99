using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;

namespace LightQ.Cli.Groups;

/// <summary>The commands of <c>lightq group</c> about single dead letters.</summary>
internal static class LetterCommands
{
    private const long DefaultCount = 100;

    /// <summary><c>lightq group letters</c>.</summary>
    public static BrokerCommand List()
    {
        Argument<string> topic = CommonOptions.Topic(),
            group = Group();
        Option<long?> from = ValueOptions.Number("--from", 0L);
        from.Description = "Only letters from this offset of the dead-letter topic on.";
        Option<long?> count = ValueOptions.Number("--count", 1L, "-n");
        count.Description = $"Show at most this many letters. Default: {DefaultCount}.";
        Option<bool> all = new("--all") { Description = "Also letters that were redriven or deleted." };
        var show = new ShowOptions();
        var command = new BrokerCommand(
            "letters",
            "Show a group's dead letters that wait, each with its offset in the dead-letter topic, the original's "
                + "partition and offset, the reason and the message.",
            "lightq group letters orders billing",
            "lightq group letters orders billing --from 200 --count 20 --format json"
        )
        {
            topic,
            group,
            from,
            count,
            all,
        };
        show.AddTo(command);
        command.Run(async call =>
        {
            long most = call.Get(count) ?? DefaultCount;
            StoredWriter writer = show.Writer(call);
            var console = new CommandConsole();
            var options = new LetterListOptions
            {
                StartOffset = call.Get(from) ?? 0,
                IncludeSettled = call.Get(all),
                MaxBodyBytes = show.MaxBodyBytes(call),
            };
            LetterPage page;
            do
            {
                options = options with { PageSize = (int)Math.Min(most - writer.Written, DefaultCount) };
                page = await call.Client.DeadLetters.ListPageAsync(
                    call.Required(topic),
                    call.Required(group),
                    options,
                    call.Cancellation
                );
                foreach (DeadLetterInfo letter in page.Letters)
                    writer.Write(letter);
                options = options with { StartOffset = page.NextOffset };
            } while (!page.IsLast && writer.Written < most);
            if (!page.IsLast)
                console.Note($"There may be more: --from {page.NextOffset}");
            else if (writer.Written == 0)
                console.Note("No letter waits.");
        });
        return command;
    }

    /// <summary><c>lightq group delete-letter</c>.</summary>
    public static BrokerCommand Delete()
    {
        Argument<string> topic = CommonOptions.Topic(),
            group = Group();
        Option<long[]> offsets = Offsets(isRequired: true);
        Option<bool> yes = Confirmation.Yes();
        var command = new BrokerCommand(
            "delete-letter",
            "Settle dead letters without redriving them: no consumer gets their messages again. Their bytes stay in "
                + "the dead-letter topic until retention removes them there.",
            "lightq group delete-letter orders billing --offset 17 --offset 19"
        )
        {
            topic,
            group,
            offsets,
            yes,
        };
        command.Run(async call =>
        {
            long[] chosen = call.Get(offsets)!;
            string name = call.Required(group);
            if (!call.Get(yes))
                Confirmation.Demand($"delete {Plural.Of(chosen.Length, "dead letter")} of the group {name}");
            return Answer(
                call,
                await call.Client.DeadLetters.DeleteAsync(call.Required(topic), name, chosen, call.Cancellation),
                "deleted; its bytes stay in the dead-letter topic until retention removes them"
            );
        });
        return command;
    }

    /// <summary><c>lightq group republish</c>.</summary>
    public static BrokerCommand Republish()
    {
        Argument<string> topic = CommonOptions.Topic(),
            group = Group();
        Option<long?> offset = ValueOptions.Number("--offset", 0L);
        offset.Description = "The letter's offset; lightq group letters shows it.";
        offset.Required = true;
        Option<bool> keep = new("--keep") { Description = "Leave the letter waiting. Otherwise it is settled then." };
        var edit = new EditOptions();
        var command = new BrokerCommand(
            "republish",
            "Publish a dead letter's message, edited or as it was, as a new message with a new offset, which all "
                + "groups of its topic get; then settle the letter.",
            "lightq group republish orders billing --offset 17 --body @fixed.json",
            "lightq group republish orders billing --offset 17 --header fixed-by=alice --to orders-retry --keep"
        )
        {
            topic,
            group,
            offset,
            keep,
        };
        edit.AddTo(command);
        command.Run(async call =>
        {
            RepublishedLetter result = await call.Client.DeadLetters.RepublishAsync(
                call.Required(topic),
                call.Required(group),
                call.Get(offset)!.Value,
                edit.Read(call),
                !call.Get(keep),
                edit.Target(call),
                call.Cancellation
            );
            call.Answer(result, GroupsJson.Default.RepublishedLetter, TextOf(result));
            return result.Published is not null && result.Problem is null ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }

    /// <summary>Letters that a command is about.</summary>
    public static Option<long[]> Offsets(bool isRequired)
    {
        Option<long[]> offsets = ValueOptions.Offsets(
            "A letter's offset, as lightq group letters shows it; may be given again."
        );
        offsets.Required = isRequired;
        return offsets;
    }

    /// <summary>Answers with what became of letters.</summary>
    /// <returns>The exit code: whether all were done.</returns>
    public static int Answer(BrokerCall call, IReadOnlyList<LetterResult> results, string done)
    {
        call.Answer(
            [.. results],
            GroupsJson.Default.LetterResultArray,
            string.Join(
                Environment.NewLine,
                results.Select(result => $"letter {result.Offset}: {TextOf(result.Outcome, done)}")
            )
        );
        return results.All(result => result.Outcome == LetterOutcome.Done) ? ExitCode.Ok : ExitCode.Failed;
    }

    private static Argument<string> Group() => new("GROUP") { Description = "The group's name." };

    private static string TextOf(RepublishedLetter result)
    {
        if (result.Published is not { } published)
            return "Nothing was published: the letter was settled before. --keep publishes it all the same.";
        string where = published.IsDuplicate
            ? $"A message with this id is stored already, in {published.Topic}/{published.Partition}."
            : $"Published as {published.Topic}/{published.Partition}, offset {published.Offset}.";
        return (result.Problem, result.Outcome) switch
        {
            ({ } problem, _) => $"{where} The letter: {problem}",
            (_, LetterOutcome.None) => where,
            (_, LetterOutcome.Done) => $"{where} The letter is settled.",
            (_, { } outcome) => $"{where} The letter: {TextOf(outcome, "settled")}.",
        };
    }

    private static string TextOf(LetterOutcome outcome, string done) =>
        outcome switch
        {
            LetterOutcome.Done => done,
            LetterOutcome.SettledBefore => "was settled before",
            LetterOutcome.OriginalGone => "not redriven, the topic no longer holds the message; republish it",
            LetterOutcome.OriginalUnsettled => "not redriven, the group has the message to settle already",
            _ => "not found, or not a letter of this group",
        };
}
