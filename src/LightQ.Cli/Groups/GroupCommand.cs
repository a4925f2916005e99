using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;
using Spectre.Console;

namespace LightQ.Cli.Groups;

/// <summary><c>lightq group</c>: looks into consumer groups, and moves, pauses and deletes them.</summary>
internal static class GroupCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "group",
            "Look into consumer groups and their dead letters; move, pause and delete them.",
            "lightq group list",
            "lightq group explain orders billing",
            "lightq group reset orders billing --to earliest",
            "lightq group letters orders billing"
        )
        {
            List(),
            Show(),
            Explain(),
            Reset(),
            Act(
                "pause",
                "Stop a group's deliveries; its members stay, and can settle what they hold.",
                "Paused",
                static (groups, topic, group, cancel) => groups.PauseAsync(topic, group, cancel)
            ),
            Act(
                "resume",
                "Resume a group's deliveries.",
                "Resumed",
                static (groups, topic, group, cancel) => groups.ResumeAsync(topic, group, cancel)
            ),
            Act(
                "delete",
                "Forget a group and its position; refused while it has members.",
                "Deleted",
                static (groups, topic, group, cancel) => groups.DeleteAsync(topic, group, cancel),
                isFinal: true
            ),
            LetterCommands.List(),
            Redrive(),
            LetterCommands.Republish(),
            LetterCommands.Delete(),
        };

    private static Argument<string> Group() => new("GROUP") { Description = "The group's name." };

    private static BrokerCommand List()
    {
        Argument<string?> topic = new("TOPIC")
        {
            Description = "Only this topic's groups.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var command = new BrokerCommand(
            "list",
            "List the groups of a topic, or of all.",
            "lightq group list",
            "lightq group list orders --output json"
        )
        {
            topic,
        };
        command.Run(async call =>
        {
            IReadOnlyList<GroupInfo> groups = await call.Client.Groups.ListAsync(call.Get(topic), call.Cancellation);
            call.Answer([.. groups.Select(GroupView.From)], GroupsJson.Default.GroupViewArray, ToTable);
        });
        return command;
    }

    private static BrokerCommand Show()
    {
        Argument<string> topic = CommonOptions.Topic();
        Argument<string> group = Group();
        var command = new BrokerCommand(
            "show",
            "Show where a group stands on each partition, and which clients its members are.",
            "lightq group show orders billing"
        )
        {
            topic,
            group,
        };
        command.Run(async call =>
        {
            GroupInfo info = await call.Client.Groups.GetAsync(
                call.Required(topic),
                call.Required(group),
                call.Cancellation
            );
            call.Answer(GroupView.From(info), GroupsJson.Default.GroupView, Write);
        });
        return command;
    }

    private static BrokerCommand Explain()
    {
        Argument<string> topic = CommonOptions.Topic();
        Argument<string> group = Group();
        var command = new BrokerCommand(
            "explain",
            "Say why a group, or a member of it, gets nothing: no credit, as many in flight as it may have, paused, "
                + "locked or delayed until a time, another member's partition, a failed topic.",
            "lightq group explain orders billing",
            "lightq group explain orders billing --output json"
        )
        {
            topic,
            group,
        };
        command.Run(async call =>
        {
            IReadOnlyList<GroupReason> reasons = await call.Client.Groups.ExplainAsync(
                call.Required(topic),
                call.Required(group),
                call.Cancellation
            );
            string text =
                reasons.Count == 0
                    ? "Nothing keeps the group from getting its messages."
                    : string.Join(Environment.NewLine, reasons.Select(r => $"partition {r.Partition}: {r.Text}"));
            call.Answer([.. reasons.Select(GroupReasonView.From)], GroupsJson.Default.GroupReasonViewArray, text);
        });
        return command;
    }

    private static BrokerCommand Reset()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Argument<string> group = Group();
        Option<StartPosition?> to = new("--to")
        {
            Description = "earliest, latest, an offset, a time (2026-01-31T12:00:00Z) or an age (15m).",
            HelpName = "START",
            Required = true,
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                bool ok =
                    StartText.TryParse(text, DateTimeOffset.UtcNow, out StartPosition start)
                    && start != StartPosition.Committed;
                return ValueOptions.Parsed(
                    result,
                    ok,
                    start,
                    $"'{text}' is neither earliest, latest, an offset, a time nor an age."
                );
            },
        };
        var command = new BrokerCommand(
            "reset",
            "Start a group again elsewhere, on all partitions or on NAME/3 alone. Messages that its members "
                + "hold are taken from them.",
            "lightq group reset orders billing --to earliest",
            "lightq group reset orders billing --to 15m"
        )
        {
            topic,
            group,
            to,
        };
        command.Run(async call =>
        {
            TopicAddress address = call.Required(topic);
            string name = call.Required(group);
            IReadOnlyList<long> offsets = await call.Client.Groups.ResetAsync(
                address.Topic,
                name,
                call.Get(to)!.Value,
                address.Partition,
                call.Cancellation
            );
            call.Answer(
                new GroupResetView(address.Topic, name, offsets),
                GroupsJson.Default.GroupResetView,
                $"{name} now stands at {string.Join(", ", offsets)} of {address.Topic}."
            );
        });
        return command;
    }

    private static BrokerCommand Redrive()
    {
        Argument<string> topic = CommonOptions.Topic();
        Argument<string> group = Group();
        Option<long[]> offsets = LetterCommands.Offsets(isRequired: false);
        var command = new BrokerCommand(
            "redrive",
            "Redeliver a group's dead letters to it, each once, as far as the topic still holds the messages; all, or "
                + "those that --offset names.",
            "lightq group redrive orders billing",
            "lightq group redrive orders billing --offset 17 --offset 19"
        )
        {
            topic,
            group,
            offsets,
        };
        command.Run(async call =>
        {
            if (call.Get(offsets) is { Length: > 0 } chosen)
            {
                return LetterCommands.Answer(
                    call,
                    await call.Client.DeadLetters.RedriveAsync(
                        call.Required(topic),
                        call.Required(group),
                        chosen,
                        call.Cancellation
                    ),
                    "redelivered"
                );
            }
            RedriveResult result = await call.Client.Groups.RedriveAsync(
                call.Required(topic),
                call.Required(group),
                call.Cancellation
            );
            call.Answer(
                result,
                GroupsJson.Default.RedriveResult,
                $"{Number(result.Redriven)} messages are redelivered; {Number(result.Skipped)} are gone from the "
                    + $"topic, or were never dead-lettered."
            );
            return ExitCode.Ok;
        });
        return command;
    }

    private static BrokerCommand Act(
        string name,
        string description,
        string done,
        Func<GroupsClient, string, string, CancellationToken, Task> act,
        bool isFinal = false
    )
    {
        Argument<string> topic = CommonOptions.Topic();
        Argument<string> group = Group();
        Option<bool> yes = Confirmation.Yes();
        var command = new BrokerCommand(name, description, $"lightq group {name} orders billing") { topic, group };
        command.Run(async call =>
        {
            var change = new GroupChangeView(call.Required(topic), call.Required(group), done.ToLowerInvariant());
            if (isFinal && !call.Get(yes))
            {
                GroupInfo known = await call.Client.Groups.GetAsync(change.Topic, change.Group, call.Cancellation);
                Confirmation.Demand(
                    $"forget the group {known.Group} of {known.Topic} and its position, "
                        + $"{Plural.Of(known.Lag, "message")} behind the end"
                );
            }
            await act(call.Client.Groups, change.Topic, change.Group, call.Cancellation);
            call.Answer(change, GroupsJson.Default.GroupChangeView, $"{done} {change.Group} of {change.Topic}.");
        });
        if (isFinal)
            command.Add(yes);
        return command;
    }

    private static Table ToTable(GroupView[] groups)
    {
        Table table = CommandConsole.Table("topic", "group", "settled by", "clients", "lag", "oldest waits", "state");
        foreach (GroupView group in groups)
        {
            table.AddRow(
                Markup.Escape(group.Topic),
                Markup.Escape(group.Group),
                group.SettledBy,
                Number(group.Clients),
                Number(group.Lag),
                AgeOf(group),
                group.Paused ? "paused" : "running"
            );
        }
        return table;
    }

    private static void Write(GroupView view)
    {
        string state = view.Paused ? "paused" : "running";
        string age = AgeOf(view) is "-" ? "" : $", the oldest message has waited for {AgeOf(view)}";
        Console.Out.WriteLine(
            $"{view.Group} of {view.Topic}, settled by {view.SettledBy}, {state}, {Plural.Of(view.Clients, "client")}, "
                + $"lag {Number(view.Lag)}{age}"
        );
        Console.Out.WriteLine(
            $"since the broker started: {Number(view.Delivered)} delivered, {Number(view.Redelivered)} of them "
                + $"redelivered, {Number(view.DeadLettered)} dead-lettered"
        );
        WritePartitions(view);
        if (view.Connections is not { Count: > 0 } clients)
            return;
        Table table = CommandConsole.Table(
            "connection",
            "client",
            "address",
            "subscriptions",
            "partitions",
            "in flight"
        );
        foreach (GroupClientInfo client in clients)
        {
            table.AddRow(
                Id(client.ConnectionId),
                Markup.Escape(client.ClientName),
                Markup.Escape(client.RemoteAddress),
                Number(client.MembersCount),
                string.Join(", ", client.Partitions.Select(p => Id(p))),
                Number(client.InFlight)
            );
        }
        new CommandConsole().Tables.Write(table);
    }

    private static void WritePartitions(GroupView view)
    {
        Table table = CommandConsole.Table(
            "partition",
            "committed",
            "next",
            "end",
            "in flight",
            "again now",
            "again later",
            "dead letters",
            "connections"
        );
        foreach (GroupPartitionInfo partition in view.Partitions ?? [])
        {
            table.AddRow(
                Number(partition.Partition),
                Number(partition.CommittedOffset),
                Number(partition.NextOffset),
                Number(partition.EndOffset),
                Number(partition.InFlight),
                Number(partition.RedeliveriesReady),
                Number(partition.RedeliveriesDelayed),
                Number(partition.DeadLettersWaiting),
                MembersOf(partition)
            );
        }
        new CommandConsole().Tables.Write(table);
    }

    private static string MembersOf(GroupPartitionInfo partition) =>
        string.Join(", ", partition.Members.Select(m => $"{m.ConnectionId}{(m.IsAssigned ? "" : " (waits)")}"));

    /// <summary>How long the oldest message has waited, in whole seconds begun; "-" where none waits.</summary>
    private static string AgeOf(GroupView group) =>
        group.OldestUnsettledSeconds switch
        {
            null => "an unknown time",
            0 => "-",
            { } seconds => DurationText.Format(TimeSpan.FromSeconds(Math.Ceiling(seconds))),
        };

    private static string Id(long value) => value.ToString(CultureInfo.InvariantCulture);

    private static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);
}
