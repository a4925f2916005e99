using LightQ.Client;
using LightQ.Samples;
using LightQ.Server;

// dotnet run --project samples/dotnet -- NAME [lightq://HOST]
// Without an address each sample has a broker of its own, inside this process.
Dictionary<string, Func<LightQClient, Task>> samples = new()
{
    ["events"] = EventsSample.RunAsync,
    ["exactly-once"] = ExactlyOnceSample.RunAsync,
    ["groups"] = GroupsSample.RunAsync,
    ["hosting"] = HostingSample.RunAsync,
    ["message-features"] = MessageFeaturesSample.RunAsync,
    ["partitions"] = PartitionsSample.RunAsync,
    ["processing"] = ProcessingSample.RunAsync,
    ["serialization"] = SerializationSample.RunAsync,
    ["slow-consumers"] = SlowConsumersSample.RunAsync,
    ["telemetry"] = TelemetrySample.RunAsync,
    ["testing"] = TestingSample.RunAsync,
};

if (args.Length is 0 or > 2 || !samples.TryGetValue(args[0], out Func<LightQClient, Task>? run))
{
    Console.Error.WriteLine(
        $"usage: dotnet run --project samples/dotnet -- NAME [lightq://HOST]\nNAME is one of: "
            + $"{string.Join(", ", samples.Keys)}"
    );
    return 2;
}
await using LightQServer? server = args.Length == 1 ? await LightQServer.StartAsync() : null;
await using var client = new LightQClient(server?.ConnectionString ?? args[1]);
await run(client);
return 0;
