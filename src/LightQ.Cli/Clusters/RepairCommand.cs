using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Clusters;

/// <summary>
/// <c>lightq cluster repair</c>: writes anew what the engine has lost, from what the brokers hold.
/// </summary>
internal static class RepairCommand
{
    public static BrokerCommand Create()
    {
        Argument<string?> topic = new("TOPIC")
        {
            Description = "The topic whose replicated logs have lost something.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        Option<bool> catalog = new("--catalog")
        {
            Description =
                "Write the cluster's catalog anew, from what the broker knows that is asked: topics, users, rights, "
                + "tokens and names of producers.",
        };
        Option<bool> yes = Confirmation.Yes();
        var command = new BrokerCommand(
            "repair",
            "Write the replicated logs of a topic anew that have lost something in the engine, each from the longest "
                + "copy that a broker has, whose checksums are verified first. What is whole is left alone. Shows what "
                + "it would do, and asks. The exit code is 1 when a log could not be written.",
            "lightq cluster repair orders",
            "lightq cluster repair --catalog --yes"
        )
        {
            topic,
            catalog,
            yes,
        };
        command.Run(call =>
            (call.Get(topic), call.Get(catalog)) switch
            {
                ({ } name, false) => RepairTopicAsync(call, name, call.Get(yes)),
                (null, true) => RepairCatalogAsync(call, call.Get(yes)),
                _ => throw new CommandException(ExitCode.Usage, "Give a topic, or --catalog."),
            }
        );
        return command;
    }

    private static async Task<int> RepairTopicAsync(BrokerCall call, string topic, bool isConfirmed)
    {
        IReadOnlyList<PartitionRepairInfo> plan = await call.Client.Cluster.RepairTopicAsync(
            topic,
            planOnly: true,
            call.Cancellation
        );
        if (plan.Count != 0 && !isConfirmed)
        {
            if (!call.IsJson)
                new CommandConsole().Tables.Write(ToTable(plan));
            Confirmation.Demand(
                $"delete {Plural.Of(plan.Count, "stream")} of the engine and write them anew from these copies; what "
                    + "no copy has is lost"
            );
        }
        if (plan.Count != 0)
            plan = await call.Client.Cluster.RepairTopicAsync(topic, planOnly: false, call.Cancellation);
        var view = new RepairTopicView(topic, plan);
        call.Answer(view, ClustersJson.Default.RepairTopicView, Write);
        return plan.All(p => p.IsDone) ? ExitCode.Ok : ExitCode.Failed;
    }

    private static async Task<int> RepairCatalogAsync(BrokerCall call, bool isConfirmed)
    {
        CatalogRepairInfo found = await call.Client.Cluster.RepairCatalogAsync(planOnly: true, call.Cancellation);
        if (found.Damage is not null)
        {
            if (!isConfirmed)
            {
                Confirmation.Demand(
                    $"delete the stream of the cluster's catalog ({found.Damage}) and write it anew with "
                        + $"{Plural.Of(found.Topics, "topic")} and {Plural.Of(found.Users, "user")}, which this broker "
                        + "knows"
                );
            }
            found = await call.Client.Cluster.RepairCatalogAsync(planOnly: false, call.Cancellation);
        }
        call.Answer(
            found,
            ClustersJson.Default.CatalogRepairInfo,
            found.IsDone
                ? $"The catalog is written: {Plural.Of(found.Topics, "topic")} and {Plural.Of(found.Users, "user")}."
                : "The catalog is whole; nothing was changed."
        );
        return ExitCode.Ok;
    }

    private static void Write(RepairTopicView view)
    {
        if (view.Partitions.Count == 0)
            CommandConsole.Line($"All logs of {view.Topic} are whole; nothing was changed.");
        else
            new CommandConsole().Tables.Write(ToTable(view.Partitions));
    }

    private static Table ToTable(IReadOnlyList<PartitionRepairInfo> partitions)
    {
        Table table = CommandConsole.Table("partition", "longest copy", "offsets", "state", "found");
        foreach (PartitionRepairInfo partition in partitions)
        {
            table.AddRow(
                partition.Partition.ToString(CultureInfo.InvariantCulture),
                Markup.Escape(partition.Node ?? "none"),
                partition.EndOffset == 0
                    ? "none"
                    : string.Create(
                        CultureInfo.InvariantCulture,
                        $"{partition.FirstOffset} to {partition.EndOffset - 1}"
                    ),
                Markup.Escape(
                    partition.IsDone ? "written"
                    : partition.Failure.Length != 0 ? partition.Failure
                    : "to be written"
                ),
                Markup.Escape(partition.Damage)
            );
        }
        return table;
    }
}
