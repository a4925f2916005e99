using LightQ.Bench.Figures;
using LightQ.Bench.Reference;
using LightQ.Cli.Reference;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Cli.Reference;

/// <summary>
/// Given the numbers of the reference documents' runs, the lines come out as they are printed there, field by field.
/// </summary>
public sealed class TransferLinesTests
{
    private static readonly IReadOnlyList<ReferenceFixture> Ancestor = ReferenceFixture.Read("ancestor");
    private static readonly IReadOnlyList<ReferenceFixture> Myq = ReferenceFixture.Read("myq");

    public static TheoryData<string, int> Cells =>
        [
            .. from f in PublishedFigure.All
            where f.Document == "myq"
            select (f.Kind.ToString().ToLowerInvariant(), f.Size),
        ];

    [Theory]
    [MemberData(nameof(Cells))]
    public void The_ancestors_producer(string kind, int size)
    {
        ReferenceFixture run = Find(Ancestor, "producer", kind, size);
        Assert.Equal(5, run.Lines.Count);
        AssertLines(run, AncestorLines.OfProducer(AncestorRun(kind, size, run.Number("last message sent timestamp"))));
    }

    [Theory]
    [MemberData(nameof(Cells))]
    public void The_ancestors_consumer(string kind, int size)
    {
        ReferenceFixture run = Find(Ancestor, "consumer", kind, size);
        Assert.Equal(8, run.Lines.Count);
        AssertLines(run, AncestorLines.OfConsumer(AncestorRun(kind, size, run.Number("consumer endtime"))));
    }

    [Theory]
    [MemberData(nameof(Cells))]
    public void Myqs_producer(string kind, int size) =>
        AssertMyqLines(Find(Myq, "producer", kind, size), MyqLines.OfProducer);

    [Theory]
    [MemberData(nameof(Cells))]
    public void Myqs_consumer(string kind, int size) =>
        AssertMyqLines(Find(Myq, "consumer", kind, size), MyqLines.OfConsumer);

    [Theory]
    [MemberData(nameof(Cells))]
    public void The_published_figures_are_those_of_the_documents(string kind, int size)
    {
        ReferenceFixture produced = Find(Ancestor, "producer", kind, size),
            consumed = Find(Ancestor, "consumer", kind, size);
        PublishedFigure figure = Find("ancestor", kind, size);
        Assert.Equal(produced.Number("messages sent per second"), figure.MessagesPerSecond);
        Assert.Equal(
            Math.Max(produced.Number("last message sent timestamp"), consumed.Number("consumer endtime"))
                - produced.Number("first message sent timestamp"),
            figure.Milliseconds
        );

        (produced, consumed) = (Find(Myq, "producer", kind, size), Find(Myq, "consumer", kind, size));
        figure = Find("myq", kind, size);
        Assert.Equal(produced.NumberBefore(" messages per seconds"), figure.MessagesPerSecond);
        Assert.Equal(
            Math.Max(produced.Number("End Time:"), consumed.Number("End Time:")) - produced.Number("Start Time:"),
            figure.Milliseconds
        );
    }

    [Fact]
    public void The_exact_lines_have_the_whole_time_and_the_distribution()
    {
        TransferResult result = AncestorRun("transient", 100, 6386632) with
        {
            LatencyUs = new LatencyFigures
            {
                Min = 1,
                P50 = 2.5,
                Max = 9,
            },
            Lost = 0,
            Duplicated = 1,
            Reordered = 2,
            Damaged = 3,
        };

        string[] lines = [.. ExactLines.Of(result)];

        Assert.Contains("[8130000] us, messages per second [1230012.30]", lines[0], StringComparison.Ordinal);
        Assert.Contains("min [1.0], p50 [2.5]", lines[1], StringComparison.Ordinal);
        Assert.Contains("lost [0], repeated [1], reordered [2], damaged [3]", lines[2], StringComparison.Ordinal);
        Assert.Equal(3, lines.Length);
        Assert.False(result.IsSound);
    }

    [Fact]
    public void Below_a_second_the_ancestors_lines_take_the_exact_time()
    {
        string[] lines =
        [
            .. AncestorLines.OfProducer(
                new TransferResult
                {
                    Topic = "t",
                    Messages = 1000,
                    Bytes = 100_000,
                    FirstSentUs = 0,
                    EndUs = 250_000,
                }
            ),
        ];

        Assert.Equal("Topic[t], Total message sent [1000] in [0.25] sec", lines[2]);
        Assert.Equal("Topic[t], Average messages sent per second [4000.00]", lines[3]);
    }

    private static void AssertLines(ReferenceFixture expected, IEnumerable<string> lines) =>
        Assert.Equal(expected.Lines.Select(ReferenceFixture.Normal), lines.Select(ReferenceFixture.Normal));

    /// <summary>
    /// The time is printed with six digits, the rates from all of it: some time that is printed like that must give all
    /// the other fields.
    /// </summary>
    private static void AssertMyqLines(ReferenceFixture expected, Func<TransferResult, IEnumerable<string>> lines)
    {
        string[] wanted = [.. expected.Lines.Select(ReferenceFixture.Normal)];
        string[][] possible =
        [
            .. Enumerable
                .Range(-50, 101)
                .Select(us => lines(MyqRun(expected, us)).Select(ReferenceFixture.Normal).ToArray()),
        ];
        Assert.Equal(5, wanted.Length);
        Assert.Contains(wanted, possible);
    }

    private static TransferResult AncestorRun(string kind, int size, double end)
    {
        ReferenceFixture consumed = Find(Ancestor, "consumer", kind, size);
        return new TransferResult
        {
            Topic = "test_1",
            Messages = (long)consumed.Number("Total message received"),
            Bytes = (long)consumed.Number("Total bytes received"),
            FirstSentUs = (long)consumed.Number("producer start time") * 1000,
            FirstReceivedUs = (long)consumed.Number("consumer start time") * 1000,
            EndUs = (long)end * 1000,
        };
    }

    /// <summary>Start and end are printed to the millisecond: some start within that gives the end.</summary>
    private static TransferResult MyqRun(ReferenceFixture run, int microseconds)
    {
        long taken = (long)Math.Round(run.Number("Time Taken:") * 1e6) + microseconds;
        long start = Math.Max((long)run.Number("Start Time:") * 1000, ((long)run.Number("End Time:") * 1000) - taken);
        return new TransferResult
        {
            Topic = "test_1",
            Messages = (long)run.Number("Total Messages:"),
            Bytes = (long)run.NumberBefore(" bytes"),
            FirstSentUs = start,
            FirstReceivedUs = start,
            EndUs = start + taken,
        };
    }

    private static ReferenceFixture Find(IEnumerable<ReferenceFixture> runs, string role, string kind, int size) =>
        runs.Single(r => r.Role == role && r.Kind == kind && r.Size == size);

    private static PublishedFigure Find(string document, string kind, int size) =>
        PublishedFigure.All.Single(f =>
            f.Document == document && f.Kind == Enum.Parse<TopicKind>(kind, ignoreCase: true) && f.Size == size
        );
}
