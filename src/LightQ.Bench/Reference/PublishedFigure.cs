using LightQ.Client;

namespace LightQ.Bench.Reference;

/// <summary>What a reference document says of ten million messages of one size.</summary>
/// <param name="Document">Whose document.</param>
/// <param name="Kind">The topic's kind.</param>
/// <param name="Size">Bytes of a message.</param>
/// <param name="MessagesPerSecond">The producer's rate as printed there.</param>
/// <param name="Milliseconds">
/// From the first message sent to the last one sent or received, by the timestamps printed there.
/// </param>
internal sealed record PublishedFigure(
    string Document,
    TopicKind Kind,
    int Size,
    double MessagesPerSecond,
    long Milliseconds
)
{
    /// <summary>How many messages all their runs have.</summary>
    public const long Messages = 10_000_000;

    /// <summary>The sizes of their grid.</summary>
    public static readonly IReadOnlyList<int> Sizes = [100, 256, 512, 1024];

    /// <summary>Both documents.</summary>
    public static readonly IReadOnlyList<PublishedFigure> All =
    [
        new("ancestor", TopicKind.Transient, 100, 1250000.00, 8145),
        new("ancestor", TopicKind.Transient, 256, 1250000.00, 8690),
        new("ancestor", TopicKind.Transient, 512, 1000000.00, 10077),
        new("ancestor", TopicKind.Transient, 1024, 526315.81, 19652),
        new("ancestor", TopicKind.Durable, 100, 400000.00, 25357),
        new("ancestor", TopicKind.Durable, 256, 370370.38, 27837),
        new("ancestor", TopicKind.Durable, 512, 322580.66, 31688),
        new("ancestor", TopicKind.Durable, 1024, 270270.28, 37797),
        new("myq", TopicKind.Transient, 100, 1181227, 8488),
        new("myq", TopicKind.Transient, 256, 1078143, 9306),
        new("myq", TopicKind.Transient, 512, 950734, 10533),
        new("myq", TopicKind.Transient, 1024, 504324, 19833),
        new("myq", TopicKind.Durable, 100, 398746, 25106),
        new("myq", TopicKind.Durable, 256, 352358, 28405),
        new("myq", TopicKind.Durable, 512, 321716, 31097),
        new("myq", TopicKind.Durable, 1024, 267360, 37425),
    ];

    /// <summary>
    /// The rate that the timestamps give, from the first message sent to the last one sent or received.
    /// </summary>
    public double TrueMessagesPerSecond => Messages * 1000.0 / Milliseconds;
}
