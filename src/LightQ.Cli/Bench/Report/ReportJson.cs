using System.Text.Json.Serialization;
using LightQ.Bench.Fanout;
using LightQ.Bench.InProcess;
using LightQ.Bench.Latency;
using LightQ.Bench.Reference;
using LightQ.Bench.Scale;
using LightQ.Bench.Settle;
using LightQ.Bench.Startup;
using LightQ.Bench.Throughput;

namespace LightQ.Cli.Bench.Report;

/// <summary>The reports as JSON; <see cref="ReportWriter"/> puts the fields of their results in order.</summary>
[JsonSourceGenerationOptions(
    GenerationMode = JsonSourceGenerationMode.Metadata,
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(BenchReport<ThroughputResult>))]
[JsonSerializable(typeof(BenchReport<LatencyResult>))]
[JsonSerializable(typeof(BenchReport<ReferenceResult>))]
[JsonSerializable(typeof(BenchReport<FanoutResult>))]
[JsonSerializable(typeof(BenchReport<StartupResult>))]
[JsonSerializable(typeof(BenchReport<InProcessResult>))]
[JsonSerializable(typeof(BenchReport<ScaleResult>))]
[JsonSerializable(typeof(BenchReport<SettleResult>))]
internal sealed partial class ReportJson : JsonSerializerContext;
