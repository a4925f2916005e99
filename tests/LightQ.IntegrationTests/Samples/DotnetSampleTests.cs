using System.Diagnostics;
using LightQ.IntegrationTests.Docs;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Samples;

/// <summary>The samples of samples/dotnet, run as their readers run them.</summary>
public sealed class DotnetSampleTests
{
    public static TheoryData<string, string[]> Samples =>
        new()
        {
            { "events", ["connected", "going away: ShuttingDown", "connected"] },
            { "exactly-once", ["stored at 0", "stored at 1", "the older one is fenced"] },
            {
                "groups",
                [
                    "delivery 1 of 'resize broken.png' fails",
                    "delivery 2 of 'resize broken.png' fails",
                    "delivery 3 of 'resize broken.png' fails",
                    "done: resize cat.png, resize dog.png, resize owl.png",
                    "given up: 'resize broken.png', delivered 3 times without being completed",
                    "1 redriven: 'resize broken.png', delivery 1, Done",
                ]
            },
            { "hosting", ["billed 42: 9.99", "health: Healthy"] },
            { "message-features", ["filtered: from Rome", "key 42 is gone: True", "delayed: later", "expired: 1"] },
            {
                "partitions",
                [
                    "lima, partition 0: click 1, click 2, click 3",
                    "oslo, partition 3: click 1, click 2, click 3",
                    "rome, partition 1: click 1, click 2, click 3",
                    "clicks/3 begins with click 1",
                ]
            },
            { "processing", ["offset 13: the bank did not answer", "20 billed, order 13 at delivery 2"] },
            { "serialization", ["42 costs 9.99", "offset 1 is no order", "43 costs 5"] },
            {
                "slow-consumers",
                [
                    "20000 published; every one was received or in a gap: True",
                    "some were missed: True, because they were Dropped",
                ]
            },
            { "telemetry", ["span: send orders, Producer", "span: receive orders, Client", "same trace: True"] },
            { "testing", ["delivery 2: Done; of the one that hung: LockExpired"] },
        };

    [Theory]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    [MemberData(nameof(Samples))]
    public async Task A_sample_says_what_it_shows(string name, string[] lines)
    {
        FaultRun.RequireTier("Ten programs take as many seconds.");
        var start = new ProcessStartInfo("dotnet", [Path.Combine(AppContext.BaseDirectory, "LightQ.Samples.dll"), name])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var sample = Process.Start(start)!;
        Task<string> errors = sample.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        string output = await sample.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await sample.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(sample.ExitCode == 0, await errors);
        Assert.Equal(lines, output.Split('\n', StringSplitOptions.RemoveEmptyEntries));
    }

    [Fact]
    public void Each_sample_is_run_here_and_named_in_the_list_of_samples()
    {
        string program = SourceTree.Read("samples/dotnet/Program.cs");
        string list = SourceTree.Read("samples/README.md");
        string[] names =
        [
            .. program
                .Split('\n')
                .Where(line => line.Contains("Sample.RunAsync,", StringComparison.Ordinal))
                .Select(line => line.Split('"')[1]),
        ];
        Assert.Equal(names, Samples.Select(row => row.Data.Item1));
        Assert.All(names, name => Assert.Contains($"`{name}`", list, StringComparison.Ordinal));
    }
}
