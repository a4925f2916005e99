using System.Diagnostics;
using LightQ.Bench.Fanout;
using LightQ.Bench.Figures;
using Xunit;

namespace LightQ.Tests.Bench.Fanout;

public sealed class FanoutLogTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-fanout-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public void What_subscribers_got_is_read_back_from_their_lines()
    {
        string path = FanoutLog.PathIn(Path.Combine(_directory, "new"));
        Assert.Equal($"{Environment.MachineName}_data_entries.log", Path.GetFileName(path));
        FanoutLog.Create(path);
        FanoutLog.Append(path, 7, [Ledger(0, 1), Ledger(1)]);
        FanoutLog.Append(path, 9, [Ledger(1)]);

        string[] lines = File.ReadAllLines(path);
        Assert.Equal(
            ["-0-0 7", "-0-1 7", "-0-1 8", "-0-1 9"],
            lines.Select(l => l[Environment.MachineName.Length..l.LastIndexOf(' ')])
        );
        double[] written =
        [
            .. lines.Select(l =>
                double.Parse(l[(l.LastIndexOf(' ') + 1)..], System.Globalization.CultureInfo.InvariantCulture)
            ),
        ];
        (LatencyHistogram read, double mean) = FanoutLog.Read(path);
        Assert.Equal(4, read.Count);
        Assert.Equal(written.Average(), mean, 0.001);
        Assert.Equal(written.Max() * 1000, read.Max, 1.0);
    }

    [Theory]
    [InlineData("host-1-2 3")]
    [InlineData("host-1-2 3 x")]
    [InlineData("host-1-2 3 -5")]
    [InlineData("")]
    public void A_line_that_is_no_entry_is_an_error(string line)
    {
        string path = FanoutLog.PathIn(_directory);
        File.WriteAllText(path, $"host-1-2 3 4.5\n{line}\n");

        Assert.Contains(
            "no entry",
            Assert.Throws<InvalidDataException>(() => FanoutLog.Read(path)).Message,
            StringComparison.Ordinal
        );
    }

    private static FanoutLedger Ledger(params int[] sequences)
    {
        var body = new FanoutBody("host", 100);
        var ledger = new FanoutLedger(1, 0, 2);
        foreach (int sequence in sequences)
        {
            ledger.Take(
                body,
                body.Write(0, sequence, Stopwatch.GetTimestamp() - (Stopwatch.Frequency / 100 * (sequence + 1)))
            );
        }

        return ledger;
    }
}
