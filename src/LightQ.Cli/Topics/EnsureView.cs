using LightQ.Client.Administration;

namespace LightQ.Cli.Topics;

/// <summary>What <c>topic ensure</c> did.</summary>
internal sealed record EnsureView(TopicView Topic, bool Created, IReadOnlyList<TopicChange> Changes)
{
    public static EnsureView From(EnsureTopicResult result) =>
        new(TopicView.From(result.Topic), result.Created, result.Changes);
}
