using System.Net;
using LightQ.Server.Configuration;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class SettingTextTests
{
    [Theory]
    [InlineData("500ms", 500)]
    [InlineData("10s", 10_000)]
    [InlineData("1.5m", 90_000)]
    [InlineData("24h", 86_400_000)]
    [InlineData("7d", 604_800_000)]
    [InlineData("0s", 0)]
    [InlineData("00:00:10", 10_000)]
    [InlineData("1.00:00:00", 86_400_000)]
    public void A_time_has_a_unit(string text, double milliseconds) =>
        Assert.Equal(TimeSpan.FromMilliseconds(milliseconds), SettingText.ReadTime(text));

    [Theory]
    [InlineData("10")]
    [InlineData("")]
    [InlineData("s")]
    [InlineData("-5s")]
    [InlineData("5 s")]
    [InlineData("5S")]
    [InlineData("1e3s")]
    [InlineData("NaNs")]
    [InlineData("99999999999d")]
    [InlineData("25:00:00:00:00")]
    public void Other_times_are_refused(string text) =>
        Assert.Throws<FormatException>(() => SettingText.ReadTime(text));

    [Theory]
    [InlineData("localhost", "127.0.0.1")]
    [InlineData("0.0.0.0", "0.0.0.0")]
    [InlineData("::1", "::1")]
    public void An_address_is_read(string text, string address) =>
        Assert.Equal(IPAddress.Parse(address), SettingText.ReadAddress(text));

    [Theory]
    [InlineData("")]
    [InlineData("7")]
    [InlineData("example.org")]
    [InlineData("127.0.0.1:80")]
    public void Other_addresses_are_refused(string text) =>
        Assert.Throws<FormatException>(() => SettingText.ReadAddress(text));
}
