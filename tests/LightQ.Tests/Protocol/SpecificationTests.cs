using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Architecture;
using Xunit;

namespace LightQ.Tests.Protocol;

/// <summary>The specification says what the code does.</summary>
public sealed class SpecificationTests
{
    private const string DumpBegins = "```text session\n";
    private static readonly string Specification = File.ReadAllText(
        Path.Combine(SourceTree.Root, "proto", "data-plane.md")
    );

    [Fact]
    public void The_session_in_the_specification_is_what_the_codecs_write()
    {
        int begin = Specification.IndexOf(DumpBegins, StringComparison.Ordinal) + DumpBegins.Length;
        Assert.True(begin >= DumpBegins.Length, "The specification has no session dump.");
        int end = Specification.IndexOf("```", begin, StringComparison.Ordinal);
        Assert.Equal(SessionDump.Text().TrimEnd('\n'), Specification[begin..end].TrimEnd('\n'));
    }

    [Fact]
    public void Every_frame_has_a_section_with_its_number()
    {
        foreach (FrameType type in Enum.GetValues<FrameType>())
            Assert.Contains($"### {(int)type} {type}\n", Specification, StringComparison.Ordinal);
    }

    [Fact]
    public void Every_error_code_is_listed_with_its_number()
    {
        foreach (ErrorCode code in Enum.GetValues<ErrorCode>())
            Assert.Contains($"| {(int)code} | {code} |", Specification, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("largest frame before Welcome", ProtocolLimits.HandshakeFrameBytes)]
    [InlineData("largest frame", ProtocolLimits.DefaultFrameBytes)]
    [InlineData("largest message", ProtocolLimits.DefaultMessageBytes)]
    [InlineData("largest batch", ProtocolLimits.DefaultBatchBytes)]
    [InlineData("Deliver run", ProtocolLimits.DeliverRunBytes)]
    [InlineData("records of a compressed batch", ProtocolLimits.InflatedBatchBytes)]
    [InlineData("publish window", ProtocolLimits.DefaultPublishWindowBytes)]
    [InlineData("unacknowledged bytes of a producer stream", ProtocolLimits.UnacknowledgedBytes)]
    [InlineData("unacknowledged batches of a named producer's stream", ProtocolLimits.UnacknowledgedBatches)]
    [InlineData("credit that the SDK grants", ProtocolLimits.DefaultCreditBytes)]
    [InlineData("remembered batches of a named producer", ProtocolLimits.RememberedBatches)]
    [InlineData("partitions of a topic", ProtocolLimits.MaxPartitions)]
    [InlineData("string", ProtocolLimits.StringBytes)]
    [InlineData("topic, group or producer name", TopicName.MaxLength)]
    [InlineData("data-plane port", ProtocolLimits.DefaultDataPort)]
    public void Every_limit_is_listed_with_its_value(string what, int value) =>
        Assert.Contains($"| {what} | {value} |", Specification, StringComparison.Ordinal);
}
