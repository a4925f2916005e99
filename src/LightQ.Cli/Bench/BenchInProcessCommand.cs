using System.CommandLine;
using LightQ.Bench;
using LightQ.Bench.Checks;
using LightQ.Bench.InProcess;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench inprocess</c>.</summary>
internal static class BenchInProcessCommand
{
    public static Command Create()
    {
        Option<InProcessTarget[]> targets = Targets();
        Option<int?> size = ValueOptions.Number("--size", MessagePattern.SmallestSize);
        size.Description =
            $"Bytes of a message. Default {InProcessSettings.UsualSize}, with --long {InProcessSettings.LongSize}.";
        Option<int?> runs = ValueOptions.Number("--runs", 1);
        runs.Description =
            $"How many runs. Default {InProcessSettings.UsualRuns}, with --long {InProcessSettings.LongRuns}.";
        Option<long?> messages = ValueOptions.Number("--messages", 1L, "-n");
        messages.Description =
            "Messages of a run. Default 100000, with --long 5000000; from a million on there is a 99.999th percentile.";
        Option<double?> rate = ValueOptions.Number("--rate", 1.0);
        rate.Description = "Messages a second. Default 10000, with --long 100000.";
        Option<bool> isLong = new("--long") { Description = "The document's longer runs." };
        Option<int?> processes = ValueOptions.Number("--processes", 1);
        processes.Description =
            "1, the default: producer and consumer are threads of one process. 2: the consumer is a process of its "
            + "own; through what is in files only.";
        Option<(int, int)?> cpus = Cpus();
        Option<string?> data = new("--data")
        {
            Description = "Where files are made. Default: the temporary directory; /dev/shm leaves the disk out.",
            HelpName = "DIR",
        };
        Option<string?> report = new("--report")
        {
            Description = "Also write a page with plots.",
            HelpName = "FILE.html",
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "inprocess",
            "How long a message takes from one thread to another without broker and sockets, by the method of "
                + "Chronicle's JLBH: open loop, times count from when a message "
                + "was due, both threads are pinned and spin. Every message is checked. Beside it the yardstick line: "
                + "half a round trip of one cache line between the same "
                + "two threads, measured before and after each run. The targets: ring and ring-multi, native memory, "
                + "with one producer's claim or the one for many; file-ring, a mapped file; "
                + "journal, each message a batch with its checksums, stored into and read from mapped segments and "
                + "never synced. Prints JLBH's table for each target, with its % variation, which leaves the first "
                + "run out, then exact figures in nanoseconds.",
            "lightq bench inprocess",
            "lightq bench inprocess --target ring,file-ring --runs 3 --report inprocess.html",
            "lightq bench inprocess --processes 2 --data /dev/shm",
            "lightq bench inprocess --target ring --long --runs 2 --output json"
        )
        {
            targets,
            size,
            runs,
            messages,
            rate,
            isLong,
            processes,
            cpus,
            data,
            report,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                bool longer = parsed.GetValue(isLong);
                var settings = new InProcessSettings
                {
                    Size = parsed.GetValue(size) ?? (longer ? InProcessSettings.LongSize : InProcessSettings.UsualSize),
                    Runs = parsed.GetValue(runs) ?? (longer ? InProcessSettings.LongRuns : InProcessSettings.UsualRuns),
                    Messages =
                        parsed.GetValue(messages)
                        ?? (longer ? InProcessSettings.LongMessages : InProcessSettings.UsualMessages),
                    Rate = parsed.GetValue(rate) ?? (longer ? InProcessSettings.LongRate : InProcessSettings.UsualRate),
                    Processes = ProcessesOf(parsed.GetValue(processes) ?? 1),
                    Targets = TargetsOf(parsed.GetValue(targets) ?? [], parsed.GetValue(processes) ?? 1),
                    Cpus = parsed.GetValue(cpus),
                    DataDirectory = parsed.GetValue(data),
                };
                var run = new BenchRun<InProcessResult>(
                    new InProcessView(),
                    new BenchSettings(),
                    parsed.GetValue(output),
                    parsed.GetValue(report)
                )
                {
                    Lines = results =>
                        results.SelectMany(r => JlbhSummary.Of(r.LatencyRunsUs).Prepend($"== {r.Kind}, {r.Size} B")),
                };
                return run.ExecuteAsync(
                    async console =>
                    {
                        var bench = new InProcessBench(settings, console);
                        IReadOnlyList<InProcessResult> results = await bench.RunAsync(cancellationToken);
                        run.Remarks = bench.Remarks;
                        return results;
                    },
                    cancellationToken
                );
            }
        );
        return command;
    }

    private static int ProcessesOf(int processes) =>
        processes <= 2
            ? processes
            : throw new CommandException(ExitCode.Usage, $"--processes: '{processes}' is not 1 or 2.");

    private static InProcessTarget[] TargetsOf(InProcessTarget[] given, int processes)
    {
        if (processes == 1)
            return given.Length > 0 ? given : Enum.GetValues<InProcessTarget>();
        InProcessTarget[] shareable = [.. Enum.GetValues<InProcessTarget>().Where(t => t.IsShareable())];
        if (given.Except(shareable).ToArray() is [var first, ..])
        {
            throw new CommandException(
                ExitCode.Usage,
                $"--processes 2: '{first.Word()}' is memory of one process; "
                    + $"{string.Join(" and ", shareable.Select(t => t.Word()))} can have two."
            );
        }

        return given.Length > 0 ? given : shareable;
    }

    private static Option<InProcessTarget[]> Targets() =>
        new("--target")
        {
            Description = $"What lies between the two, several with commas. Default: all.",
            HelpName = string.Join('|', InProcessTargetWords.All),
            CustomParser = result =>
            {
                var targets = new List<InProcessTarget>();
                foreach (string word in result.Tokens[0].Value.Split(','))
                {
                    targets.Add(
                        ValueOptions.Parsed(
                            result,
                            InProcessTargetWords.TryParse(word, out InProcessTarget target),
                            target,
                            $"'{word}' is not one of {string.Join(", ", InProcessTargetWords.All)}."
                        )
                    );
                }

                return [.. targets.Distinct()];
            },
        };

    private static Option<(int, int)?> Cpus() =>
        new("--cpus")
        {
            Description = "The CPUs of producer and consumer. Default: the first two that this process may use.",
            HelpName = "A,B",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                IReadOnlyList<int> allowed = ThreadAffinity.Allowed();
                int[] cpus =
                [
                    .. text.Split(',').Select(t => int.TryParse(t, out int cpu) && allowed.Contains(cpu) ? cpu : -1),
                ];
                bool ok = cpus is [>= 0, >= 0] && cpus[0] != cpus[1];
                return ValueOptions.Parsed<(int, int)?>(
                    result,
                    ok,
                    ok ? (cpus[0], cpus[1]) : null,
                    $"'{text}' is not two different CPUs of those that this process may use: "
                        + $"{string.Join(", ", allowed)}."
                );
            },
        };
}
