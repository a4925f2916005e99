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
using Perfolizer.Horology;

// dotnet run -c Release --project benchmarks/LightQ.Benchmarks -- --filter '*'                  everything, about 10 s a case
//                                                              -- --ci                          everything, about 1 s a case
//                                                              -- --ci --anyCategories protocol a part: protocol, ring, journal
//                                                              -- --filter '*Crc*' --job short  any option of BenchmarkDotNet
//
// Results go to BenchmarkDotNet.Artifacts/results as Markdown, HTML and JSON. The exit code is 1 when a benchmark fails, or
// allocates: what these categories measure runs once per message or batch. The bytes are those of the whole process, so a
// timer's or the JIT's few kilobytes stand in them too, and a journal's new segments do; spread over a run's thousands of
// operations they are less than the smallest object (24 bytes on 64 bits), which one allocation per operation would cost.
// A benchmark that allocates by intent (it starts threads, say) also carries the category "allocates".
string[] allocationFree = ["protocol", "ring", "journal"];
const long SmallestObject = 24;
const string MayAllocate = "allocates";

bool quick = args.Contains("--ci");
bool ownJob = args.Any(argument => argument is "--job" or "-j");
List<string> options = [.. args.Where(argument => argument != "--ci")];
if (quick && !options.Exists(option => option is "--filter" or "-f"))
    options.AddRange(["--filter", "*"]);
if (ownJob)
    options.Add("--inProcess");

// In process: a child project per run would have to be generated, restored and built against this repository's settings.
Job job = Job.Default.WithToolchain(InProcessEmitToolchain.Instance);
job = quick
    ? job.WithId("ci").WithWarmupCount(2).WithIterationCount(3).WithIterationTime(TimeInterval.FromMilliseconds(60))
    : job.WithId("full").WithWarmupCount(5).WithIterationCount(12).WithIterationTime(TimeInterval.FromMilliseconds(250));

ManualConfig config = ManualConfig.CreateEmpty()
    .AddLogger(ConsoleLogger.Default)
    .AddColumnProvider(DefaultColumnProviders.Instance)
    .AddColumn(CategoriesColumn.Default)
    .AddDiagnoser(MemoryDiagnoser.Default)
    .AddExporter(MarkdownExporter.GitHub, HtmlExporter.Default, JsonExporter.Full)
    .WithSummaryStyle(SummaryStyle.Default.WithMaxParameterColumnWidth(40));
if (!ownJob)
    config.AddJob(job);

Summary[] summaries = [.. BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run([.. options], config)];
List<string> failures = [.. summaries.SelectMany(Failures)];
if (quick && summaries.Length == 0)
    failures.Add("No benchmark ran.");
foreach (string failure in failures)
    await Console.Error.WriteLineAsync($"FAILED: {failure}");
return failures.Count == 0 ? 0 : 1;

IEnumerable<string> Failures(Summary summary)
{
    if (summary.HasCriticalValidationErrors)
        yield return $"{summary.Title}: {string.Join("; ", summary.ValidationErrors.Select(error => error.Message))}";
    foreach (BenchmarkCase missing in summary.BenchmarksCases.Except(summary.Reports.Where(report => report.Success).Select(report => report.BenchmarkCase)))
        yield return $"{missing.DisplayInfo} did not run to its end.";
    foreach (BenchmarkReport report in summary.Reports)
    {
        string[] categories = report.BenchmarkCase.Descriptor.Categories;
        long? bytes = report.GcStats.GetBytesAllocatedPerOperation(report.BenchmarkCase);
        if (bytes >= SmallestObject && categories.Intersect(allocationFree).Any() && !categories.Contains(MayAllocate))
            yield return $"{report.BenchmarkCase.DisplayInfo} allocates {bytes} bytes per operation; none are allowed in {string.Join(", ", allocationFree)}.";
    }
}
