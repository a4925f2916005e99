using LightQ.Grpc;
using Xunit;

namespace LightQ.Tests.Grpc;

public sealed class PercentEncodingTests
{
    [Theory]
    [InlineData("", "")]
    [InlineData("plain text ~", "plain text ~")]
    [InlineData("100%", "100%25")]
    [InlineData("grüße", "gr%C3%BC%C3%9Fe")]
    [InlineData("a\r\nb\u007F", "a%0D%0Ab%7F")]
    [InlineData("😀", "%F0%9F%98%80")]
    public void Text_is_encoded_and_decoded(string text, string encoded)
    {
        Assert.Equal(encoded, PercentEncoding.Encode(text));
        Assert.Equal(text, PercentEncoding.Decode(encoded));
    }

    [Theory]
    [InlineData("%", "%")]
    [InlineData("%4", "%4")]
    [InlineData("%zz!", "%zz!")]
    [InlineData("%c3%bc", "ü")]
    [InlineData("%FF", "\uFFFD")]
    public void Broken_encodings_never_fail(string encoded, string expected) => Assert.Equal(expected, PercentEncoding.Decode(encoded));
}
