using LightQ.Grpc;
using Xunit;

namespace LightQ.Tests.Grpc;

public sealed class GrpcMetadataTests
{
    [Fact]
    public void Names_are_case_insensitive_and_kept_in_lower_case()
    {
        GrpcMetadata metadata = new() { { "X-Trace", "1" } };
        Assert.Equal("x-trace", metadata[0].Name);
        Assert.Equal("1", metadata.GetValue("x-TRACE"));
    }

    [Fact]
    public void The_last_value_of_a_name_wins_and_all_are_kept_in_order()
    {
        GrpcMetadata metadata = new() { { "a", "1" }, { "b", "2" }, { "a", "3" } };
        Assert.Equal("3", metadata.GetValue("a"));
        Assert.Equal(["1", "3"], metadata.GetValues("a"));
        Assert.True(metadata.Remove("A"));
        Assert.False(metadata.Remove("A"));
        Assert.Null(metadata.GetValue("a"));
        Assert.Single(metadata);
    }

    [Fact]
    public void Bytes_travel_as_base64_without_padding()
    {
        GrpcMetadata metadata = new() { { "x-bin", (ReadOnlySpan<byte>)[0xFF, 0x00] } };
        Assert.Equal("/wA", metadata[0].Value);
        Assert.True(metadata[0].IsBinary);
        Assert.Equal([0xFF, 0x00], metadata.GetBytes("X-Bin")!.Value.ToArray());
    }

    [Theory]
    [InlineData("")]
    [InlineData("a b")]
    [InlineData("naïve")]
    [InlineData(":path")]
    [InlineData("grpc-status")]
    [InlineData("Content-Type")]
    [InlineData("text-bin")]
    public void A_name_that_cannot_hold_text_is_refused(string name) =>
        Assert.ThrowsAny<ArgumentException>(() => new GrpcMetadata().Add(name, "x"));

    [Theory]
    [InlineData("line\nbreak")]
    [InlineData("grüße")]
    [InlineData("\u007F")]
    public void A_value_that_is_not_printable_ASCII_is_refused(string value) =>
        Assert.Throws<ArgumentException>(() => new GrpcMetadata().Add("x", value));

    [Fact]
    public void Bytes_under_a_text_name_are_refused() =>
        Assert.Throws<ArgumentException>(() => new GrpcMetadata().Add("x", (ReadOnlySpan<byte>)[1]));

    [Theory]
    [InlineData("/wA")]
    [InlineData("/wA=")]
    public void Received_base64_is_read_with_and_without_padding(string text)
    {
        GrpcMetadata metadata = [];
        metadata.AddReceived("X-Bin", text);
        Assert.Equal([0xFF, 0x00], metadata.GetBytes("x-bin")!.Value.ToArray());
    }

    [Fact]
    public void A_received_binary_header_may_hold_several_values()
    {
        GrpcMetadata metadata = [];
        metadata.AddReceived("x-bin", "AQ, Ag==,!,A");
        Assert.Equal([1, 2], metadata.Select(e => e.Bytes.Span[0]));
    }

    [Fact]
    public void The_protocols_own_headers_are_no_metadata()
    {
        GrpcMetadata metadata = [];
        metadata.AddReceived("Content-Type", "application/grpc");
        metadata.AddReceived("grpc-timeout", "1S");
        metadata.AddReceived(":authority", "localhost");
        Assert.Empty(metadata);
    }
}
