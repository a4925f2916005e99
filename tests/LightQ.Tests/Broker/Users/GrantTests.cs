using LightQ.Broker;
using LightQ.Broker.Users;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Broker.Users;

public sealed class GrantTests
{
    [Theory]
    [InlineData("orders", "orders", true)]
    [InlineData("orders", "orders.eu", false)]
    [InlineData("orders", "Orders", false)]
    [InlineData("orders.*", "orders.eu", true)]
    [InlineData("orders.*", "orders.", true)]
    [InlineData("orders.*", "orders", false)]
    [InlineData("orders*", "orders", true)]
    [InlineData("orders*", "orders2", true)]
    [InlineData("*", "anything", true)]
    [InlineData("*", "orders.dead", true)]
    [InlineData("orders", "orders.dead", false)]
    [InlineData("orders.dead", "orders.dead", true)]
    [InlineData("orders.*", "orders.dead", false)]
    [InlineData("orders.*", "orders.dead.dead", false)]
    [InlineData("orders.*", "orders.eu.dead", true)]
    [InlineData("orders.d*", "orders.dead", false)]
    [InlineData("orders.d*", "orders.data.dead", true)]
    [InlineData("orders*", "orders.dead", true)]
    [InlineData("*", "", true)]
    public void A_pattern_covers_a_name_or_all_that_begin_alike(string pattern, string topic, bool covered) =>
        Assert.Equal(covered, Grant.Create(Right.Publish, pattern).Covers(topic));

    [Theory]
    [InlineData("l*", "letters", false)]
    [InlineData("letters*", "letters", false)]
    [InlineData("letters", "letters", true)]
    [InlineData("*", "letters", true)]
    [InlineData("orders*", "letters", false)]
    [InlineData("orders*", "orders-letters", false)]
    [InlineData("o*", "o-letters", true)]
    public void A_pattern_covers_where_letters_are_kept_only_with_all_topics_they_come_from(
        string pattern,
        string topic,
        bool covered
    ) =>
        Assert.Equal(
            covered,
            Grant.Create(Right.Publish, pattern).Covers(topic, new HashSet<string> { "orders", "o.dead" })
        );

    [Theory]
    [InlineData("")]
    [InlineData("..")]
    [InlineData("../x")]
    [InlineData("a..*")]
    [InlineData("a*b")]
    [InlineData("a**")]
    [InlineData("**")]
    [InlineData(".x*")]
    [InlineData("a b")]
    [InlineData("a/b")]
    [InlineData("a\0")]
    [InlineData("\u202Eabc")]
    public void What_names_no_topics_is_refused_with_what_is_allowed(string pattern)
    {
        BrokerException error = Assert.Throws<BrokerException>(() => Grant.Create(Right.Consume, pattern));
        Assert.Equal(ErrorCode.InvalidArgument, error.Code);
        Assert.Contains("orders.*", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Admin_is_on_everything_or_nothing()
    {
        Assert.Equal("*", Grant.Create(Right.Admin, "").Pattern);
        Assert.Equal(
            ErrorCode.InvalidArgument,
            Assert.Throws<BrokerException>(() => Grant.Create(Right.Admin, "orders")).Code
        );
        Assert.Equal(ErrorCode.InvalidArgument, Assert.Throws<BrokerException>(() => Grant.Create(0, "orders")).Code);
        Assert.Equal(
            ErrorCode.InvalidArgument,
            Assert.Throws<BrokerException>(() => Grant.Create((Right)5, "orders")).Code
        );
    }
}
