using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class ConnectionStringTests
{
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
    public void A_password_with_special_characters_that_were_not_escaped_is_refused_and_not_shown(string text)
    {
        ArgumentException refused = Assert.Throws<ArgumentException>(() => LightQClientOptions.Parse(text));
        Assert.DoesNotContain("secret", refused.ToString(), StringComparison.Ordinal);
    }
}
