using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class ConnectionStringTests
{
    [Fact]
    public void Options_of_the_same_brokers_are_equal()
    {
        var options = LightQClientOptions.Parse("lightq://a,b:1?control=2,3");
        Assert.Equal(options, LightQClientOptions.Parse(options.ToString()));
        Assert.Equal(options.GetHashCode(), LightQClientOptions.Parse(options.ToString()).GetHashCode());
        Assert.NotEqual(options, LightQClientOptions.Parse("lightq://a,c:1?control=2,3"));
        Assert.NotEqual(options, LightQClientOptions.Parse("lightq://a?control=2"));
    }

    [Fact]
    public void A_bare_host_gets_the_default_ports_and_no_user()
    {
        LightQClientOptions options = LightQClientOptions.Parse("lightq://broker.example");
        Assert.Equal(
            ("broker.example", 5700, 5701, null, false),
            (options.Host, options.DataPort, options.ControlPort, options.User, options.Tls)
        );
    }

    [Fact]
    public void Every_part_is_read_and_percent_encoding_is_undone()
    {
        LightQClientOptions options = LightQClientOptions.Parse(
            "lightq://an%40n:p%3Ass@10.0.0.1:6000/?control=6001&tls=true&ca=%2Fetc%2Fca%20x.pem"
        );
        Assert.Equal(("10.0.0.1", 6000, 6001), (options.Host, options.DataPort, options.ControlPort));
        Assert.Equal(
            ("an@n", "p:ss", true, "/etc/ca x.pem"),
            (options.User, options.Password, options.Tls, options.CertificateAuthorityFile)
        );
    }

    [Fact]
    public void An_IPv6_address_keeps_its_form() =>
        Assert.Equal(
            ("::1", 7000),
            (
                LightQClientOptions.Parse("lightq://[::1]:7000").Host,
                LightQClientOptions.Parse("lightq://[::1]:7000").DataPort
            )
        );

    [Fact]
    public void Several_hosts_are_brokers_each_with_a_port_of_its_own_or_the_default()
    {
        LightQClientOptions options = LightQClientOptions.Parse(
            "lightq://ann:p,w%3Ass@n1:6000,[::1]:6010,n3?control=6001&tls=true"
        );
        Assert.Equal(("n1", 6000, 6001), (options.Host, options.DataPort, options.ControlPort));
        Assert.Equal(("ann", "p,w:ss", true), (options.User, options.Password, options.Tls));
        Assert.Equal([Broker("::1", 6010, 6001), Broker("n3", 5700, 6001)], options.OtherBrokers);
    }

    [Fact]
    public void Control_ports_may_be_one_for_each_broker_in_their_order()
    {
        LightQClientOptions options = LightQClientOptions.Parse("lightq://h:5700,h:5710,h:5720?control=5701,5711,5721");
        Assert.Equal(5701, options.ControlPort);
        Assert.Equal([Broker("h", 5710, 5711), Broker("h", 5720, 5721)], options.OtherBrokers);
    }

    [Fact]
    public void Of_several_brokers_each_alone_has_the_settings_of_all()
    {
        LightQClientOptions[] each = LightQClientOptions
            .Parse("lightq://ann:pw@n1,n2:6000?control=1,2&tls=true&ca=/ca.crt")
            .ForEach();
        Assert.Equal(
            [
                "lightq://ann@n1:5700?control=1&tls=true&ca=/ca.crt",
                "lightq://ann@n2:6000?control=2&tls=true&ca=/ca.crt",
            ],
            each.Select(o => o.ToString())
        );
        Assert.All(each, o => Assert.Equal("pw", o.Password));
    }

    [Theory]
    [InlineData("lightq://n1:5700,n2:5700")]
    [InlineData("lightq://ann@n1:5700,[::1]:5710,n3:1?control=6001&tls=true")]
    [InlineData("lightq://h:5700,h:5710?control=5701,5711&insecure=true")]
    public void Several_brokers_are_written_as_they_are_read(string text) =>
        Assert.Equal(text, LightQClientOptions.Parse(text).ToString());

    [Theory]
    [InlineData("lightq://n1,", "broker 2 is not host[:port]")]
    [InlineData("lightq://n1,,n3", "broker 2 is not host[:port]")]
    [InlineData("lightq://n1,n2,b c", "broker 3 is not host[:port]")]
    [InlineData("lightq://n1,n2:0", "the port is a number from 1 to 65535")]
    [InlineData("lightq://n1,n2/x", "nothing may stand between the hosts and '?'")]
    [InlineData("lightq://n1,n2?control=1,2,3", "control has 3 ports for 2 brokers")]
    [InlineData("lightq://n1?control=1,2", "control has 2 ports for 1 broker:")]
    [InlineData("lightq://n1,n2?control=1,", "control is a number from 1 to 65535")]
    public void What_is_wrong_with_one_of_several_brokers_is_said(string text, string problem) =>
        Assert.Contains(
            problem,
            Assert.Throws<ArgumentException>(() => LightQClientOptions.Parse(text)).Message,
            StringComparison.Ordinal
        );

    [Fact]
    public void A_broker_that_is_given_twice_is_refused() =>
        Assert.Contains(
            "The broker n1:5700 is given twice",
            Assert.Throws<ArgumentException>(() => new LightQClient("lightq://n1,n2,N1:5700").Dispose()).Message,
            StringComparison.OrdinalIgnoreCase
        );

    [Theory]
    [InlineData("n1:5700", true, "n1", 5700)]
    [InlineData("10.0.0.1:1", true, "10.0.0.1", 1)]
    [InlineData("[fe80::1]:5700", true, "fe80::1", 5700)]
    [InlineData("", false, "", 0)]
    [InlineData("n1", false, "", 0)]
    [InlineData("n1:0", false, "", 0)]
    [InlineData("n1:70000", false, "", 0)]
    [InlineData("fe80::1:5700", false, "", 0)]
    [InlineData(":5700", false, "", 0)]
    [InlineData("a b:5700", false, "", 0)]
    public void An_address_of_a_redirect_is_a_host_and_a_port(string text, bool isOne, string host, int port)
    {
        Assert.Equal(isOne, HostPort.TryParse(text, out string readHost, out int readPort));
        if (isOne)
            Assert.Equal((host, port), (readHost, readPort));
    }

    [Theory]
    [InlineData("http://localhost")]
    [InlineData("localhost")]
    [InlineData("lightq://")]
    [InlineData("lightq://h:0")]
    [InlineData("lightq://h:70000")]
    [InlineData("lightq://h/path")]
    [InlineData("lightq://:p@h")]
    [InlineData("lightq://h?control=x")]
    [InlineData("lightq://h?tls=maybe")]
    [InlineData("lightq://h?insecure=")]
    [InlineData("lightq://h?ca=")]
    [InlineData("lightq://h?tls=true&cert=")]
    [InlineData("lightq://h?colour=red")]
    [InlineData("lightq://h?producers=")]
    [InlineData("lightq://h?producers=0")]
    [InlineData("lightq://h?producers=-1")]
    [InlineData("lightq://h?producers=1000001")]
    public void Anything_else_is_refused(string text) =>
        Assert.ThrowsAny<ArgumentException>(() => LightQClientOptions.Parse(text));

    [Fact]
    public void The_password_never_shows_in_text()
    {
        string text = LightQClientOptions.Parse("lightq://ann:secret@h:6000?control=6001").ToString();
        Assert.Equal("lightq://ann@h:6000?control=6001", text);
    }

    [Theory]
    [InlineData("lightq://h?ca=/ca.crt", "give tls=true too")]
    [InlineData("lightq://h?cert=/me.crt&key=/me.key", "give tls=true too")]
    [InlineData("lightq://h?tls=true&key=/me.key", "give cert=FILE too")]
    public void Files_for_TLS_do_not_stand_alone(string text, string advice) =>
        Assert.Contains(
            advice,
            Assert.Throws<ArgumentException>(() => new LightQClient(text)).Message,
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("lightq://h:5700", 4096)]
    [InlineData("lightq://h:5700?producers=1", 1)]
    [InlineData("lightq://h:5700?producers=1000000", 1_000_000)]
    public void The_producers_that_are_kept_are_part_of_the_text_unless_they_are_the_default(string text, int kept)
    {
        LightQClientOptions options = LightQClientOptions.Parse(text);
        Assert.Equal((kept, text), (options.MaxSharedProducers, options.ToString()));
        Assert.Throws<ArgumentOutOfRangeException>(() => options with { MaxSharedProducers = 0 });
        Assert.Throws<ArgumentOutOfRangeException>(() => options with { MaxSharedProducers = 1_000_001 });
    }

    [Theory]
    [InlineData("lightq://h:5700?insecure=true")]
    [InlineData("lightq://h:5700?tls=true&ca=/etc/ca%20x.pem")]
    [InlineData("lightq://h:5700?control=6001&tls=true&ca=/ca.crt&cert=/me.crt&key=/me.key")]
    public void What_is_asked_of_TLS_is_part_of_the_text(string text) =>
        Assert.Equal(text, LightQClientOptions.Parse(text).ToString());

    [Theory]
    [InlineData("lightq://admin:12?secret@host")]
    [InlineData("lightq://admin:12?secret=more@host")]
    [InlineData("lightq://admin:12?control=secret@host")]
    [InlineData("lightq://admin:12?token=secret&x@host")]
    [InlineData("lightq://admin:12/secret@host")]
    [InlineData("lightq://admin:12#secret@host")]
    [InlineData("lightq://admin:secret@")]
    [InlineData("lightq://admin:secret@ho st")]
    [InlineData("lightq://admin:secret@host:99999")]
    [InlineData("http://admin:secret@host")]
    [InlineData("lightq://admin:12,secret/x@host")]
    [InlineData("lightq://admin:12,secret?x@host")]
    [InlineData("lightq://admin:12,secret#x@host")]
    [InlineData("lightq://admin:12,secret@host,")]
    [InlineData("lightq://admin:12,se/cret,secret@host")]
    public void A_password_with_special_characters_that_were_not_escaped_is_refused_and_not_shown(string text)
    {
        ArgumentException refused = Assert.Throws<ArgumentException>(() => LightQClientOptions.Parse(text));
        Assert.DoesNotContain("secret", refused.ToString(), StringComparison.Ordinal);
    }

    private static BrokerEndpoint Broker(string host, int dataPort, int controlPort) =>
        new()
        {
            Host = host,
            DataPort = dataPort,
            ControlPort = controlPort,
        };
}
