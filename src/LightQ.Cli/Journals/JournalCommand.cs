using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Journals;

/// <summary><c>lightq journal</c>: looks into the files of a broker that does not run, and mends them.</summary>
internal static class JournalCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "journal",
            "Verify, dump and repair the files of a broker that does not run.",
            "lightq journal verify ./data",
            "lightq journal dump ./data --from 100 --to 200 --records",
            "lightq journal repair ./data"
        )
        {
            Verify(),
            Dump(),
            Repair(),
        };

    private static ExampleCommand Verify()
    {
        Argument<string> path = PathArgument();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "verify",
            "Read everything that is stored and report what is damaged; ends with 1 if something is. Changes nothing.",
            "lightq journal verify ./data",
            "lightq journal verify ./data --output json"
        )
        {
            path,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
                Task.FromResult(
                    new VerifyJob(parsed.GetRequiredValue(path), parsed.GetValue(output)).Run(cancellationToken)
                )
        );
        return command;
    }

    private static ExampleCommand Dump()
    {
        Argument<string> path = PathArgument();
        Option<long> from = new("--from") { Description = "The first offset. Default: 0.", HelpName = "OFFSET" };
        Option<long> to = new("--to")
        {
            Description = "The last offset. Default: the end.",
            HelpName = "OFFSET",
            DefaultValueFactory = _ => long.MaxValue,
        };
        Option<bool> records = new("--records")
        {
            Description = "Show the records too: key, headers, and the beginning of the body.",
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "dump",
            "Show the stored batches, a line each; with --output json a JSON object a line. Changes nothing.",
            "lightq journal dump ./data --from 100 --to 200",
            "lightq journal dump ./data --records --output json"
        )
        {
            path,
            from,
            to,
            records,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                using var job = new DumpJob(
                    parsed.GetRequiredValue(path),
                    parsed.GetValue(output),
                    parsed.GetValue(from),
                    parsed.GetValue(to),
                    parsed.GetValue(records)
                );
                return Task.FromResult(job.Run(cancellationToken));
            }
        );
        return command;
    }

    private static ExampleCommand Repair()
    {
        Argument<string> path = PathArgument();
        Option<bool> yes = new("--yes")
        {
            Description =
                "Do it. Without it the command says what it would do, asks on a terminal, and ends with 3 without "
                + "a yes.",
        };
        Option<bool> acceptLoss = new("--accept-lost-catalog-changes")
        {
            Description =
                "With --yes, and only if the catalog has lost changes: users, rights, tokens and topics that were "
                + "removed or changed may be as they were before, a deleted user's token among them. The broker "
                + "then lets only admin log in until 'lightq server confirm-catalog'.",
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "repair",
            "Put a gap in the place of what is lost, so that the broker serves the rest. Says first what that costs.",
            "lightq journal repair ./data",
            "lightq journal repair ./data --yes"
        )
        {
            path,
            yes,
            acceptLoss,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
                Task.FromResult(
                    new RepairJob(
                        parsed.GetRequiredValue(path),
                        parsed.GetValue(output),
                        parsed.GetValue(yes),
                        parsed.GetValue(acceptLoss)
                    ).Run(cancellationToken)
                )
        );
        return command;
    }

    private static Argument<string> PathArgument() =>
        new("PATH") { Description = "A data directory, or in it a topic's directory or one partition's." };
}
