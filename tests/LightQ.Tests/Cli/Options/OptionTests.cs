using System.CommandLine;
using System.CommandLine.Invocation;
using LightQ.Cli;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Cli.Topics;
using LightQ.Client;
using LightQ.Server;
using LightQ.Server.Configuration;
using LightQ.Server.Control;
using Xunit;

namespace LightQ.Tests.Cli.Options;

/// <summary>What the command line takes, what it refuses, and what an exception becomes.</summary>
public sealed class OptionTests
{
    [Theory]
    [InlineData("server --data x --data-port 0 --require-auth --insecure false --output json")]
    [InlineData(
        "topic create orders --kind durable --ring 16MiB --retention-age 7d --ack written --slow-policy drop-oldest"
    )]
    [InlineData("topic ensure orders --retention-bytes none --retention-age none")]
    [InlineData("topic truncate orders/0 --before 10")]
    [InlineData("topic truncate orders --all")]
    [InlineData("topic truncate orders --all --yes")]
    [InlineData("topic replicate orders")]
    [InlineData("topic replicate orders --replicas 5")]
    [InlineData("topic delete orders --yes")]
    [InlineData("topic delete orders -y")]
    [InlineData("group delete orders billing --yes")]
    [InlineData("pub orders hello --key 1 --header a=b --header c=d --ack fsync")]
    [InlineData("pub orders --file - --rate 10.5 --producer-name p")]
    [InlineData("pub orders -")]
    [InlineData("sub orders/3 --from earliest --count 3 --idle-exit 3s --format raw")]
    [InlineData("sub orders --from 2026-01-31T12:00:00Z")]
    [InlineData("sub orders --from 15m --group billing")]
    [InlineData("sub orders --slow-policy spill-to-disk")]
    [InlineData("sub orders --slow-policy block --slow-timeout 500ms")]
    [InlineData("topic create orders --slow-policy drop-newest")]
    [InlineData("stats orders --watch --interval 500ms")]
    [InlineData("stats orders/3")]
    [InlineData("topic show orders/1023")]
    [InlineData("topic create orders --partitions 1024")]
    [InlineData("topic create orders --kind durable --replicas 3 --ack replicated --read replicated")]
    [InlineData("pub orders hello --ack replicated")]
    [InlineData(
        "bench throughput --sizes 100,256 --pairs 1 --messages 1000 --api publish --in-flight 10 --kind durable"
    )]
    [InlineData("bench latency -sz 512 -tr 1000 -tt 5s --stamp actual")]
    [InlineData("bench reference --sizes 100,1024 --messages 1000 --kind durable --runs 2")]
    [InlineData(
        "bench latency -sa lightq://a -sb lightq://b -tr 1000 -tt 5s -sz 512 -hist file -secure -tls_ca a -tls_key b "
            + "-tls_cert c"
    )]
    [InlineData("topic create -n 1")]
    [InlineData("topic create -n 2 -s file orders")]
    [InlineData("producer -m 10000000 -n 1 -s 100")]
    [InlineData("producer -m 10 --style myq orders")]
    [InlineData("consumer -c socket -m 10000000 -n 1")]
    [InlineData("consumer -c zmq orders")]
    [InlineData("top --view groups --sort age --top 5 --interval 100ms")]
    [InlineData("top --once --interval none --reverse --output json")]
    [InlineData("topic list --context prod")]
    [InlineData(
        "context add prod --server n1,n2 --user a --password-file f --ca c --cert d --key e --tls --use --replace"
    )]
    [InlineData("context use --none")]
    public void It_is_taken(string line) => Assert.Empty(CommandLine.CreateRoot().Parse(line).Errors);

    [Fact]
    public void A_command_is_made_alone_where_its_name_comes_first()
    {
        string[] all = [.. CommandLine.CreateRoot().Subcommands.Select(c => c.Name)];
        Assert.NotEmpty(all);
        Assert.All(
            all,
            name => Assert.Equal([name], CommandLine.CreateRoot(name, "-h").Subcommands.Select(c => c.Name))
        );
        Assert.Empty(CommandLine.CreateRoot("--version").Subcommands);
        Assert.Equal(all, CommandLine.CreateRoot("srever").Subcommands.Select(c => c.Name));
        Assert.Equal(all, CommandLine.CreateRoot("--help", "server").Subcommands.Select(c => c.Name));
    }

    [Fact]
    public void A_broker_that_an_option_can_name_can_be_named_by_a_context()
    {
        Command[] commands =
        [
            .. Below(CommandLine.CreateRoot())
                .Where(c => c.Options.Any(o => o.Name == "--server") && c.Parents.Single().Name != "context"),
        ];
        Assert.True(commands.Length > 30);
        Assert.DoesNotContain(commands, c => c.Options.All(o => o.Name != "--context"));
        static IEnumerable<Command> Below(Command command) => command.Subcommands.SelectMany(Below).Prepend(command);
    }

    [Theory]
    [InlineData("")]
    [InlineData("pub")]
    [InlineData("nonsense")]
    [InlineData("pub bad*name x")]
    [InlineData("pub orders/x y")]
    [InlineData("pub orders hello --file f")]
    [InlineData("pub orders --whole-file")]
    [InlineData("pub orders x --header nothing")]
    [InlineData("pub orders x --rate 0")]
    [InlineData("topic truncate orders")]
    [InlineData("topic replicate orders --replicas 1")]
    [InlineData("topic truncate orders --all --before 10")]
    [InlineData("pub orders x --delay abc")]
    [InlineData("pub orders x --delay -5m")]
    [InlineData("pub orders x --ttl abc")]
    [InlineData("pub orders x --ack sometimes")]
    [InlineData("top --interval none")]
    [InlineData("top --interval 10ms")]
    [InlineData("top --top 0")]
    [InlineData("top --view everything")]
    [InlineData("top --view nodes --sort lag")]
    [InlineData("context add prod")]
    [InlineData("context add .x --server a")]
    [InlineData("context use a --none")]
    [InlineData("topic list --server a --context b")]
    [InlineData("sub orders --from yesterdayish")]
    [InlineData("sub orders --idle-exit soon")]
    [InlineData("sub orders --slow-policy dropoldest")]
    [InlineData("sub orders --slow-timeout 499ms")]
    [InlineData("sub orders --slow-timeout 25h")]
    [InlineData("sub orders --count 0")]
    [InlineData("sub orders --count x")]
    [InlineData("sub orders --count")]
    [InlineData("pub orders x --header")]
    [InlineData("pub orders x --rate fast")]
    [InlineData("pub orders --file")]
    [InlineData("stats --watch")]
    [InlineData("topic create orders --ring many")]
    [InlineData("topic create orders --partitions 0")]
    [InlineData("topic show orders/1024")]
    [InlineData("stats orders/x")]
    [InlineData("topic create")]
    [InlineData("topic create -n 0")]
    [InlineData("topic create orders -s file --kind transient")]
    [InlineData("producer -s 15")]
    [InlineData("producer -m 0")]
    [InlineData("consumer -c pipe")]
    [InlineData("consumer --style kafka")]
    [InlineData("bench reference --sizes 128")]
    [InlineData("topic create orders --ring none")]
    [InlineData("topic create orders --retention-age nonesuch")]
    [InlineData("bench throughput --sizes 100,x")]
    [InlineData("bench throughput --sizes 8")]
    [InlineData("bench throughput --pairs 0")]
    [InlineData("bench throughput --against rabbit")]
    [InlineData("bench latency --rate 0")]
    public void It_is_refused(string line) =>
        Assert.IsType<ParseErrorAction>(CommandLine.CreateRoot().Parse(line).Action);

    [Theory]
    [InlineData("topic creat x", "'creat' is not a command of 'lightq topic'. Did you mean 'create'?")]
    [InlineData("topc list", "'topc' is not a command of 'lightq'. Did you mean 'topic'?")]
    [InlineData("xyz", "'xyz' is not a command of 'lightq'.")]
    [InlineData("topic", "'lightq topic' needs a command: create, ensure, list, show, delete, truncate, replicate.")]
    [InlineData("topic show", "'lightq topic show' needs TOPIC.")]
    [InlineData("server --data", "Required argument missing for option: '--data'.")]
    [InlineData(
        "server --web-port 1 --web-port 2",
        "Option '--web-port' expects a single argument but 2 were provided."
    )]
    [InlineData("server --output x", "--output: 'x' is not one of table, json.")]
    [InlineData("backup", "'lightq backup' needs FOLDER.")]
    [InlineData("backup ./b2 --rate 5x", "--rate: '5x' is not a size such as 4096, 64KiB, 1MiB or 10GiB.")]
    [InlineData("topic list extra", "'extra' is one word more than 'lightq topic list' takes.")]
    [InlineData("server --dta x", "'--dta' is not an option of 'lightq server'. Did you mean '--data'?")]
    [InlineData(
        "pub orders --nonsense",
        "'--nonsense' is not an option of 'lightq pub'. To mean it as text, put '--' in front of it."
    )]
    [InlineData("sub orders --count x", "--count: 'x' is not a number from 1 on.")]
    [InlineData("topic create t --partitions 1025", "--partitions: '1025' is not a number from 1 to 1024.")]
    [InlineData("topic create t --replicas 2", "--replicas: '2' is not one of 1, 3, 5.")]
    [InlineData("topic create t --kind durabel", "--kind: 'durabel' is not one of transient, durable.")]
    public void A_mistake_is_named_and_the_nearest_word_suggested(string line, string says) =>
        Assert.Equal(says, ParseMistake.Find(CommandLine.CreateRoot().Parse(line)));

    [Theory]
    [InlineData("pub orders -- --json")]
    [InlineData("pub orders -5")]
    [InlineData("pub orders x --key --y")]
    public void What_only_looks_like_an_option_is_text(string line) =>
        Assert.Null(ParseMistake.Find(CommandLine.CreateRoot().Parse(line)));

    [Fact]
    public void The_help_of_server_shows_every_default()
    {
        using var help = new StringWriter();
        CommandLine.CreateRoot().Parse("server --help").Invoke(new InvocationConfiguration { Output = help });

        var defaults = new LightQServerOptions { DataDirectory = ServerConfiguration.DefaultDataDirectory };
        Assert.All(
            ServerSettings.All.Where(s => s.Flag is not null),
            s =>
                Assert.Contains(
                    help.ToString().Split('\n'),
                    l =>
                        l.Contains(s.Flag!, StringComparison.Ordinal)
                        && l.Contains($"[default: {s.Read(defaults)}]", StringComparison.Ordinal)
                )
        );
    }

    [Fact]
    public void Every_command_has_a_description_and_every_visible_leaf_an_example()
    {
        foreach (Command command in All(CommandLine.CreateRoot()).Where(c => c is not RootCommand))
        {
            Assert.False(string.IsNullOrEmpty(command.Description), command.Name);
            Assert.NotEmpty(Assert.IsAssignableFrom<ExampleCommand>(command).Examples);
            Assert.All(
                command.Options,
                option => Assert.False(string.IsNullOrEmpty(option.Description), $"{command.Name} {option.Name}")
            );
        }
    }

    [Fact]
    public void What_a_topic_keeps_as_it_was_made_says_so_in_the_help()
    {
        var command = new Command("create");
        new TopicSettingOptions().AddTo(command);

        Assert.Equal(TopicMapping.Fields.Count, command.Options.Count);
        Assert.All(
            TopicMapping.Fields.Zip(command.Options),
            pair =>
            {
                // Both lists are in one order.
                Assert.StartsWith(pair.Second.Name.Split('-')[2], pair.First.Name, StringComparison.Ordinal);
                Assert.Equal(
                    pair.First.IsImmutable,
                    pair.Second.Description!.Contains(TopicSettingOptions.Lasting, StringComparison.Ordinal)
                );
            }
        );
    }

    [Fact]
    public void Every_example_is_taken()
    {
        foreach (string example in All(CommandLine.CreateRoot()).OfType<ExampleCommand>().SelectMany(c => c.Examples))
        {
            string line = example[example.IndexOf("lightq ", StringComparison.Ordinal)..].Split(" > ")[0];
            Assert.Empty(CommandLine.CreateRoot().Parse(line["lightq ".Length..], CommandLine.Parsing).Errors);
        }
    }

    [Theory]
    [InlineData("500ms", 0.5)]
    [InlineData("3s", 3)]
    [InlineData("1.5m", 90)]
    [InlineData("2h", 7200)]
    [InlineData("7d", 604800)]
    [InlineData("4", 4)]
    public void A_duration_is_a_number_and_a_unit(string text, double seconds)
    {
        Assert.True(DurationText.TryParse(text, out TimeSpan duration));
        Assert.Equal(seconds, duration.TotalSeconds);
    }

    [Theory]
    [InlineData("")]
    [InlineData("s")]
    [InlineData("3x")]
    [InlineData("-3s")]
    [InlineData("99999999999999999d")]
    public void Anything_else_is_not_a_duration(string text) => Assert.False(DurationText.TryParse(text, out _));

    [Theory]
    [InlineData("4096", 4096)]
    [InlineData("64KiB", 65536)]
    [InlineData("1mib", 1048576)]
    [InlineData("10GiB", 10737418240)]
    public void A_size_is_a_number_and_perhaps_a_unit(string text, long bytes)
    {
        Assert.True(SizeText.TryParse(text, out long size));
        Assert.Equal(bytes, size);
    }

    [Theory]
    [InlineData("earliest")]
    [InlineData("latest")]
    [InlineData("17")]
    [InlineData("15m")]
    [InlineData("2026-01-31")]
    public void A_start_is_a_word_an_offset_an_age_or_a_time(string text) =>
        Assert.True(StartText.TryParse(text, DateTimeOffset.UnixEpoch, out _));

    [Fact]
    public void Starts_mean_what_they_say()
    {
        var now = new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
        StartText.TryParse("15m", now, out StartPosition age);
        StartText.TryParse("17", now, out StartPosition offset);
        StartText.TryParse("2026-01-31T11:45:00", now, out StartPosition time);

        Assert.Equal(StartPosition.Time(now.AddMinutes(-15)), age);
        Assert.Equal(StartPosition.Offset(17), offset);
        Assert.Equal(age, time);
    }

    [Theory]
    [InlineData(ErrorCode.Unavailable, ExitCode.Unavailable)]
    [InlineData(ErrorCode.TimedOut, ExitCode.Unavailable)]
    [InlineData(ErrorCode.MalformedFrame, ExitCode.Unavailable)]
    [InlineData(ErrorCode.UnexpectedFrame, ExitCode.Unavailable)]
    [InlineData(ErrorCode.Unauthenticated, ExitCode.Denied)]
    [InlineData(ErrorCode.PermissionDenied, ExitCode.Denied)]
    [InlineData(ErrorCode.InvalidArgument, ExitCode.Usage)]
    [InlineData(ErrorCode.UnknownTopic, ExitCode.Failed)]
    public void A_code_becomes_an_exit_code_and_one_line(ErrorCode code, int exitCode)
    {
        Assert.True(Failure.TryExplain(new LightQException(code, "first\nsecond"), out Failure failure));
        Assert.Equal(exitCode, failure.ExitCode);
        Assert.StartsWith("first second", failure.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', failure.Message);
    }

    [Fact]
    public void A_defect_is_not_explained_away() =>
        Assert.False(Failure.TryExplain(new InvalidOperationException("x"), out _));

    private static IEnumerable<Command> All(Command command) =>
        command.Hidden ? [] : command.Subcommands.SelectMany(All).Prepend(command);
}
