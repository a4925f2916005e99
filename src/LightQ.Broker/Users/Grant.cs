using System.Collections.Immutable;
using LightQ.Protocol;

namespace LightQ.Broker.Users;

/// <summary>A right on a topic, or on all topics whose names begin alike.</summary>
/// <param name="Right">The right.</param>
/// <param name="Pattern">
/// A topic's name; the beginning of names and <c>*</c>; or <c>*</c> alone, as it is for <see cref="Right.Admin"/>.
/// </param>
public sealed record Grant(Right Right, string Pattern)
{
    /// <summary>The pattern that covers every topic.</summary>
    public const string Everything = "*";

    /// <summary>What a pattern must look like, for error messages.</summary>
    public const string PatternRule =
        "a topic's name, the beginning of names followed by '*' (orders.*), or '*' for all topics";

    /// <summary>Checks a grant from outside.</summary>
    /// <exception cref="BrokerException">
    /// The right is none, or the pattern no pattern: <see cref="ErrorCode.InvalidArgument"/>.
    /// </exception>
    public static Grant Create(Right right, string pattern)
    {
        if (!Enum.IsDefined(right))
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                "The right is missing; allowed: publish, consume, manage, admin."
            );
        }

        if (right == Right.Admin)
        {
            return pattern is "" or Everything
                ? new Grant(right, Everything)
                : throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    $"The right admin is on everything, not on '{TopicName.Printable(pattern)}' alone; allowed: no "
                        + $"topic, or '*'."
                );
        }
        string prefix = pattern.EndsWith('*') ? pattern[..^1] : pattern;
        return pattern == Everything || TopicName.IsValid(prefix)
            ? new Grant(right, pattern)
            : throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"'{TopicName.Printable(pattern)}' names no topics; allowed: {PatternRule}."
            );
    }

    /// <summary>
    /// Whether the grant is about this topic. The beginning of names covers a topic's dead letters only with the topic:
    /// <c>orders.*</c> does not cover <c>orders.dead</c>, which belongs to <c>orders</c>.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="owners">The topics that have it keep their letters by its name; null for none.</param>
    public bool Covers(string topic, IReadOnlySet<string>? owners = null)
    {
        if (!Pattern.EndsWith('*'))
            return topic == Pattern;
        ReadOnlySpan<char> prefix = Pattern.AsSpan()[..^1];
        if (!TopicName.OwnerOf(topic).StartsWith(prefix, StringComparison.Ordinal))
            return false;
        foreach (string owner in owners ?? ImmutableHashSet<string>.Empty)
        {
            if (!TopicName.OwnerOf(owner).StartsWith(prefix, StringComparison.Ordinal))
                return false;
        }
        return true;
    }

    /// <summary>For people: <c>publish on orders.*</c>.</summary>
    public override string ToString() =>
        Right == Right.Admin ? "admin" : $"{Right.ToString().ToLowerInvariant()} on {Pattern}";
}
