using LightQ.Cli.Top;
using Xunit;

namespace LightQ.Tests.Cli.Top;

/// <summary>How rows stand under their columns, in windows of any width.</summary>
public sealed class TopTableTests
{
    private static readonly string[] Columns = ["topic", "group", "lag", "age", "state"];

    private static readonly TopCell[][] Rows =
    [
        Row("a-topic-with-a-rather-long-name", "a-group-with-a-rather-long-name", 1_234_567, 90, "ok"),
        Row("short", "g", 0, null, "paused"),
    ];

    [Fact]
    public void What_is_left_makes_texts_longer_and_numbers_are_never_cut()
    {
        string[] lines = [.. TopTable.Fitted(Columns, Rows, 60, "lag", hasColours: false)];
        Assert.Equal(60, lines[0].Length);
        Assert.All(lines, line => Assert.InRange(line.Length, 1, 60));
        Assert.Contains("1.2M 90s ok", lines[1], StringComparison.Ordinal);
        Assert.StartsWith("a-topic-with-a-rather…", lines[1], StringComparison.Ordinal);
        Assert.Contains("paused", lines[2], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(5)]
    [InlineData(13)]
    [InlineData(30)]
    [InlineData(80)]
    [InlineData(200)]
    public void No_line_is_wider_than_the_window(int width) =>
        Assert.All(
            TopTable.Fitted(Columns, Rows, width, "age", hasColours: false),
            line => Assert.InRange(line.Length, 1, width)
        );

    [Fact]
    public void Columns_that_do_not_fit_are_left_out_from_the_right()
    {
        string[] lines = [.. TopTable.Fitted(Columns, Rows, 31, "lag", hasColours: false)];
        Assert.Equal(["topic", "group", "lag*"], lines[0].Split(' ', StringSplitOptions.RemoveEmptyEntries));
    }

    [Fact]
    public void For_programs_nothing_is_cut_or_rounded()
    {
        string[] lines = [.. TopTable.Plain(Columns, Rows)];
        Assert.Equal(
            ["a-topic-with-a-rather-long-name", "a-group-with-a-rather-long-name", "1234567", "90", "ok"],
            lines[1].Split(' ', StringSplitOptions.RemoveEmptyEntries)
        );
        Assert.Equal(["short", "g", "0", "-", "paused"], lines[2].Split(' ', StringSplitOptions.RemoveEmptyEntries));
    }

    [Fact]
    public void A_name_cannot_write_to_the_terminal()
    {
        TopCell[][] rows =
        [
            [TopCell.Text("x\u001b[2Jy\n\u009b31m")],
        ];
        Assert.All(
            TopTable.Fitted(["client"], rows, 80, "client", hasColours: true).Concat(TopTable.Plain(["client"], rows)),
            line => Assert.DoesNotContain(line, char.IsControl)
        );
    }

    [Fact]
    public void Wide_characters_take_two_places()
    {
        TopCell[][] rows =
        [
            [TopCell.Text("日本語日本語日本語"), TopCell.Number(5)],
        ];
        string line = TopTable.Fitted(["topic", "lag"], rows, 17, "topic", hasColours: false).Last();
        Assert.Equal("日本語日本語…   5", line);
    }

    [Fact]
    public void A_mark_is_a_colour_only_where_there_are_colours()
    {
        TopCell[][] rows =
        [
            [TopCell.Number(0, TopMark.Bad)],
        ];
        Assert.Contains(
            "\u001b[31m",
            TopTable.Fitted(["members"], rows, 80, "members", hasColours: true).Last(),
            StringComparison.Ordinal
        );
        Assert.Equal("       0", TopTable.Fitted(["members"], rows, 80, "members", hasColours: false).Last());
    }

    [Theory]
    [InlineData(0, "0")]
    [InlineData(0.21, "0.2")]
    [InlineData(9.5, "9.5")]
    [InlineData(10.4, "10")]
    [InlineData(99_999, "99999")]
    [InlineData(99_999.7, "100k")]
    [InlineData(999_400, "999k")]
    [InlineData(999_600, "1.0M")]
    [InlineData(12_345_678, "12.3M")]
    [InlineData(4.2e15, "4.2P")]
    public void A_number_has_few_characters(double value, string text) =>
        Assert.Equal(text, TopCell.Number(value).Short());

    [Theory]
    [InlineData(0, "0s")]
    [InlineData(1.5, "1.5s")]
    [InlineData(119, "119s")]
    [InlineData(120, "2m")]
    [InlineData(7200, "2h")]
    [InlineData(260_000, "3d")]
    public void So_has_a_time(double seconds, string text) => Assert.Equal(text, TopCell.Seconds(seconds).Short());

    [Fact]
    public void A_rate_is_known_from_the_second_reading_on_and_not_of_what_counts_anew()
    {
        var rates = new Rates<string>();
        DateTimeOffset time = DateTimeOffset.UnixEpoch;
        Assert.Equal([null, null], rates.Of("a", time, 10, 0));
        rates.EndReading();
        Assert.Equal([5, 1], rates.Of("a", time.AddSeconds(2), 20, 2));
        Assert.Equal([null, null], rates.Of("b", time.AddSeconds(2), 20, 2));
        rates.EndReading();
        Assert.Equal([null, null], rates.Of("a", time.AddSeconds(4), 3, 2));
        rates.EndReading();
        Assert.Equal([null, null], rates.Of("b", time.AddSeconds(4), 30, 2)); // It was not in the reading before.
    }

    private static TopCell[] Row(string topic, string group, double lag, double? age, string state) =>
        [TopCell.Text(topic), TopCell.Text(group), TopCell.Number(lag), TopCell.Seconds(age), TopCell.Text(state)];
}
