using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Exporters.Json;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using LightQ.Benchmarks;
using Perfolizer.Horology;

// dotnet run -c Release --project benchmarks/LightQ.Benchmarks -- OPTIONS, where OPTIONS are
//   --filter '*'                   everything, about 10 s a case
//   --ci                           everything, about 1 s a case
//   --ci --anyCategories protocol  a part: protocol, ring, journal, broker
//   --filter '*Crc*' --job short   any option of BenchmarkDotNet
//
// Results go to BenchmarkDotNet.Artifacts/results as Markdown, HTML and JSON. The exit code is 1 when a benchmark
// fails, allocates where that is once per message or batch, or takes longer than its [TimeBudget], a multiple of a
// baseline beside it (Budgets.cs). A benchmark that allocates by intent (it starts threads, say) carries the category
// "allocates".
bool quick = args.Contains("--ci");
bool ownJob = args.Any(argument => argument is "--job" or "-j");
List<string> options = [.. args.Where(argument => argument != "--ci")];
if (quick && !options.Exists(option => option is "--filter" or "-f"))
    options.AddRange(["--filter", "*"]);
if (ownJob)
    options.Add("--inProcess");

// In process: a child project per run would have to be generated, restored and built against this repository's
// settings.
Job job = Job.Default.WithToolchain(InProcessEmitToolchain.Instance);
job = quick
    ? job.WithId("ci").WithWarmupCount(1).WithIterationCount(3).WithIterationTime(TimeInterval.FromMilliseconds(40))
    : job.WithId("full")
        .WithWarmupCount(5)
        .WithIterationCount(12)
        .WithIterationTime(TimeInterval.FromMilliseconds(250));

ManualConfig config = ManualConfig
    .CreateEmpty()
    .AddLogger(ConsoleLogger.Default)
    .AddColumnProvider(DefaultColumnProviders.Instance)
    .AddColumn(CategoriesColumn.Default)
    .AddDiagnoser(MemoryDiagnoser.Default)
    .AddExporter(MarkdownExporter.GitHub, HtmlExporter.Default, JsonExporter.Full)
    .WithSummaryStyle(SummaryStyle.Default.WithMaxParameterColumnWidth(40));
if (!ownJob)
    config.AddJob(job);

var budgets = new Budgets(quick);
Summary[] summaries = [.. BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run([.. options], config)];
List<string> failures = [.. summaries.SelectMany(Budgets.Failures)];
(Type Class, string Failure)[] overspent = [.. summaries.SelectMany(budgets.OverspentIn)];
if (quick && overspent.Length > 0)
{
    IEnumerable<Type> again = overspent.Select(o => o.Class).Distinct();
    overspent = [.. again.SelectMany(type => budgets.OverspentIn(BenchmarkRunner.Run(type, config)))];
}

failures.AddRange(overspent.Select(o => o.Failure));
if (quick && summaries.Length == 0)
    failures.Add("No benchmark ran.");
foreach (string failure in failures)
    await Console.Error.WriteLineAsync($"FAILED: {failure}");
return failures.Count == 0 ? 0 : 1;
