using LightQ.Broker.Replication;
using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Engine;

/// <summary>What the engine makes of a server's answer, and of its own settings.</summary>
public sealed class JudgementTests
{
    [Fact]
    public void An_answer_for_the_next_sequence_of_the_stream_is_stored() =>
        Assert.Equal(EntryAppend.Stored(8), Judge(new("LQ", 8, Duplicate: false, Error: null)));

    [Theory]
    [InlineData("LQ", 7, false)]
    [InlineData("LQ", 9, false)]
    [InlineData("LQ", 0, false)]
    [InlineData("LQ", 8, true)]
    [InlineData("OTHER", 8, false)]
    public void An_answer_for_anything_else_leaves_the_outcome_unknown(string stream, ulong sequence, bool duplicate) =>
        Assert.Equal(AppendOutcome.Unknown, Judge(new(stream, sequence, duplicate, Error: null)).Outcome);

    [Theory]
    [InlineData(10071, AppendOutcome.Refused)]
    [InlineData(10164, AppendOutcome.Refused)]
    [InlineData(10054, AppendOutcome.Refused)]
    [InlineData(10077, AppendOutcome.Unknown)] // A replica could not store it; the others may have.
    [InlineData(10023, AppendOutcome.Full)]
    [InlineData(10002, AppendOutcome.Full)]
    [InlineData(0, AppendOutcome.Unknown)]
    public void Only_what_a_server_checks_before_it_stores_is_refused_and_a_limit_is_told_apart(
        int code,
        AppendOutcome outcome
    )
    {
        EntryAppend append = Judge(new("LQ", 0, Duplicate: false, new(400, code, "what it says")));
        Assert.Equal(outcome, append.Outcome);
        Assert.Contains("what it says", append.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void An_empty_answer_says_nothing() => Assert.Equal(AppendOutcome.Unknown, Judge(null).Outcome);

    [Theory]
    [InlineData("http://a:1")]
    [InlineData("a:4222")]
    [InlineData("nats://a,b")]
    [InlineData("nats://user:secret@a")]
    public void A_server_is_named_by_its_address_alone(string server) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new NatsEngineOptions { Servers = [server] });

    [Fact]
    public void Settings_are_checked_when_they_are_set()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new NatsEngineOptions { Servers = [] });
        var options = new NatsEngineOptions { Servers = ["nats://a:4222", "tls://b"], Password = "secret" };
        Assert.Throws<ArgumentOutOfRangeException>(() => options with { ClusterName = "a b" });
        Assert.Throws<ArgumentOutOfRangeException>(() => options with { AppendTimeout = TimeSpan.Zero });
        Assert.Throws<ArgumentOutOfRangeException>(() => options with { RequestTimeout = TimeSpan.FromHours(1) });
        Assert.Throws<ArgumentOutOfRangeException>(() => options with { SeedFile = "/no/such/file" });
        Assert.DoesNotContain("secret", options.ToString(), StringComparison.Ordinal);
    }

    private static EntryAppend Judge(PublishAck? ack) => JetStreamStream.Judge("LQ", ack, expectedLast: 7);
}
