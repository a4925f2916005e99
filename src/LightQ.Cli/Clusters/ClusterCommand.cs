using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using LightQ.Protocol;
using Spectre.Console;

namespace LightQ.Cli.Clusters;

/// <summary><c>lightq cluster</c>: shows who leads what, and moves partitions.</summary>
internal static class ClusterCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "cluster",
            "Look at a cluster of brokers, move what they lead, or start one to try.",
            "lightq cluster try",
            "lightq cluster status",
            "lightq cluster drain b1",
            "lightq cluster move orders/0 b2",
            "lightq cluster balance --plan"
        )
        {
            Status(),
            Drain(),
            Move(),
            RepairCommand.Create(),
            RemoveStreamCommand.Create(),
            InitCommand.Create(),
            Balance(),
            UpgradeCheckCommand.Create(),
            TryCommand.Create(),
        };

    private static Argument<string> Node(string description) => new("NODE") { Description = description };

    private static BrokerCommand Status()
    {
        Argument<string[]> topics = new("TOPIC")
        {
            Description = "Only the partitions of these topics.",
            Arity = ArgumentArity.ZeroOrMore,
        };
        var command = new BrokerCommand(
            "status",
            "Show what is wrong, the nodes, what they do, and which of them leads each partition. Any node answers. "
                + "The exit code is 4 while something is wrong, or a partition has no leader.",
            "lightq cluster status",
            "lightq cluster status orders --output json"
        )
        {
            topics,
        };
        command.Run(async call =>
        {
            ClusterInfo cluster = await call.Client.Cluster.GetAsync(call.Get(topics), call.Cancellation);
            call.Answer(cluster, ClustersJson.Default.ClusterInfo, Write);
            return cluster.Conditions.Count != 0 || cluster.Partitions.Any(p => p.Node is null)
                ? ExitCode.Warnings
                : ExitCode.Ok;
        });
        return command;
    }

    private static BrokerCommand Drain()
    {
        Argument<string> node = Node("The node that is to lead nothing, until it starts again.");
        var command = new BrokerCommand(
            "drain",
            "Hand every partition of a node over to others, one at a time, before it is stopped or updated. Clients go "
                + "on at the others by themselves.",
            "lightq cluster drain b1"
        )
        {
            node,
        };
        command.Run(async call =>
        {
            string name = call.Required(node);
            var console = new CommandConsole();
            await foreach (DrainProgress left in call.Client.Cluster.DrainAsync(name, call.Cancellation))
            {
                if (call.IsJson)
                {
                    CommandConsole.Line(
                        JsonSerializer.Serialize(
                            new DrainView(name, left.PartitionsLeft, left.EntriesLeft),
                            ClustersJson.Default.DrainView
                        )
                    );
                }
                else
                {
                    console.Progress(Describe(left));
                }
            }
            console.EndProgress();
            if (!call.IsJson)
                CommandConsole.Line($"{name} leads nothing; it can be stopped.");
        });
        return command;
    }

    private static string Describe(DrainProgress left) =>
        $"{Plural.Of(left.PartitionsLeft, "partition")} left"
        + (
            left.EntriesLeft == 0
                ? ""
                : $"; the others have {left.EntriesLeft.ToString("N0", CultureInfo.InvariantCulture)} entries to read "
                    + "first"
        );

    private static BrokerCommand Move()
    {
        Argument<TopicAddress> partition = CommonOptions.Address();
        partition.Description = "The partition, as TOPIC/PARTITION; of a topic with one, TOPIC will do.";
        Argument<string> node = Node("The node that is to lead it.");
        var command = new BrokerCommand(
            "move",
            "Hand a partition over to a node, which leads it until it fails or drains.",
            "lightq cluster move orders/0 b2"
        )
        {
            partition,
            node,
        };
        command.Run(async call =>
        {
            TopicAddress address = call.Required(partition);
            var moved = new MoveView(address.Topic, address.Partition ?? 0, call.Required(node), Epoch: 0);
            moved = moved with
            {
                Epoch = await call.Client.Cluster.MoveAsync(
                    moved.Topic,
                    moved.Partition,
                    moved.Node,
                    call.Cancellation
                ),
            };
            call.Answer(
                moved,
                ClustersJson.Default.MoveView,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{moved.Node} leads partition {moved.Partition} of {moved.Topic}, epoch {moved.Epoch}."
                )
            );
        });
        return command;
    }

    private static BrokerCommand Balance()
    {
        Option<bool> plan = new("--plan") { Description = "Show what would move, and move nothing." };
        var command = new BrokerCommand(
            "balance",
            "Spread the partitions evenly over the nodes, those as well that were moved by 'cluster move'. What nobody "
                + "has moved is spread by itself. The exit code is 4 while something is left to move.",
            "lightq cluster balance --plan",
            "lightq cluster balance"
        )
        {
            plan,
        };
        command.Run(async call =>
        {
            BalanceResult balance = await call.Client.Cluster.BalanceAsync(call.Get(plan), call.Cancellation);
            call.Answer(balance, ClustersJson.Default.BalanceResult, Write);
            return balance.Left != 0 ? ExitCode.Warnings : ExitCode.Ok;
        });
        return command;
    }

    private static void Write(BalanceResult balance)
    {
        if (balance.Moves.Count == 0)
        {
            CommandConsole.Line("The partitions are spread evenly.");
            return;
        }
        Table table = CommandConsole.Table("topic", "partition", "from", "to");
        foreach (PartitionMoveInfo move in balance.Moves)
        {
            table.AddRow(
                Markup.Escape(move.Topic),
                move.Partition.ToString(CultureInfo.InvariantCulture),
                Markup.Escape(move.From),
                Markup.Escape(move.To)
            );
        }
        new CommandConsole().Tables.Write(table);
        if (balance.Left != 0)
            CommandConsole.Line($"{Plural.Of(balance.Left, "partition")} left to move.");
    }

    private static void Write(ClusterInfo cluster)
    {
        var console = new CommandConsole();
        CommandConsole.Line(
            cluster.Name is null
                ? $"{cluster.AnsweredBy} is a broker without a cluster."
                : $"Cluster {cluster.Name} on {cluster.Engine}, as {cluster.AnsweredBy} sees it."
        );
        if (cluster.IsListening)
            CommandConsole.Line($"{cluster.AnsweredBy} has just begun to listen, and may not have heard of all.");
        foreach (ClusterConditionInfo condition in cluster.Conditions)
        {
            CommandConsole.Line(
                $"{condition.Kind}, says {condition.Node}: {condition.Subject}: {condition.Detail}. {condition.Remedy}"
            );
        }
        console.Tables.Write(ToTable(cluster.Nodes));
        if (cluster.Partitions.Count != 0)
            console.Tables.Write(ToTable(cluster.Partitions, cluster.IsListening));
    }

    private static Table ToTable(IReadOnlyList<NodeInfo> nodes)
    {
        Table table = CommandConsole.Table("node", "state", "leads", "data", "control", "version");
        foreach (NodeInfo node in nodes)
        {
            string state =
                node.State == NodeState.Silent
                    ? $"silent for {DurationText.Format(TimeSpan.FromSeconds(Math.Round(node.Silence.TotalSeconds)))}"
                    : node.State.ToString().ToLowerInvariant();
            table.AddRow(
                Markup.Escape(node.Name),
                state,
                node.Leads.ToString("N0", CultureInfo.InvariantCulture),
                Markup.Escape(node.DataAddress),
                Markup.Escape(node.ControlAddress),
                Markup.Escape(node.Version)
            );
        }
        return table;
    }

    private static Table ToTable(IReadOnlyList<PartitionLeaderInfo> partitions, bool isListening)
    {
        Table table = CommandConsole.Table("topic", "partition", "leader", "epoch", "replicas");
        foreach (PartitionLeaderInfo partition in partitions)
        {
            table.AddRow(
                Markup.Escape(partition.Topic),
                partition.Partition.ToString(CultureInfo.InvariantCulture),
                Markup.Escape(partition.Node ?? (isListening ? "not heard of yet" : "none")),
                partition.Epoch.ToString(CultureInfo.InvariantCulture),
                partition.Replicas.ToString(CultureInfo.InvariantCulture)
            );
        }
        return table;
    }
}
