namespace LightQ.Broker.Cluster;

/// <summary>What a node asks another one to do.</summary>
/// <param name="Id">Made anew for each; the same when it is sent again.</param>
/// <param name="Node">The node that is asked.</param>
/// <param name="To">
/// The node that is to lead the partition; empty to drain <paramref name="Node"/>. With another kind the node itself:
/// an earlier version takes any kind for a move.
/// </param>
/// <param name="Topic">The topic's id.</param>
/// <param name="Partition">The partition's number.</param>
/// <param name="Kind">What it is about.</param>
internal sealed record MemberCommand(
    Guid Id,
    string Node,
    string To = "",
    Guid Topic = default,
    uint Partition = 0,
    CommandKind Kind = CommandKind.Move
)
{
    /// <summary>Whether it asks to drain the node.</summary>
    [System.Text.Json.Serialization.JsonIgnore]
    public bool IsDrain => To.Length == 0;
}

/// <summary>What became of a command.</summary>
/// <param name="Id">The command's.</param>
/// <param name="Refusal">Why it was not done; empty when it was.</param>
/// <param name="Copy">What the node holds, if it was asked that.</param>
internal sealed record MemberAnswer(Guid Id, string Refusal = "", PartitionCopy? Copy = null);
