using LightQ.Storage;

namespace LightQ.Broker.Topics;

/// <summary>Why a partition is not served here: it could not be opened, or another node leads it.</summary>
/// <param name="Code">How requests to it are answered.</param>
/// <param name="Reason">What clients get to read; names no paths of the server.</param>
/// <param name="Detail">What the broker's log says.</param>
public sealed record PartitionRefusal(ErrorCode Code, string Reason, string Detail)
{
    /// <summary>
    /// With <see cref="ErrorCode.NotLeader"/>: the node that leads it; empty where that is not known.
    /// </summary>
    public string Node { get; init; } = "";

    /// <summary>Whether another node serves it: nothing is wrong with it.</summary>
    public bool IsElsewhere => Node.Length != 0;

    /// <summary>With <see cref="ErrorCode.NotLeader"/>: the newest epoch that is known; 0 for none.</summary>
    public uint Epoch { get; init; }

    /// <summary>What a claim that has come to nothing means.</summary>
    /// <param name="failure">Why.</param>
    /// <param name="epoch">The newest epoch that is known.</param>
    /// <param name="loss">What clients get to read of a stream that has lost something; null for any other.</param>
    internal static PartitionRefusal OfClaim(Exception failure, uint epoch, string? loss) =>
        loss is not null ? new PartitionRefusal(ErrorCode.TopicFailed, loss, failure.Message)
        : failure is Replication.ReplicationException engine
            ? new PartitionRefusal(
                engine.IsFull ? ErrorCode.DiskFull : ErrorCode.NotLeader,
                engine.Message,
                engine.Message
            )
            {
                Epoch = epoch,
            }
        : Of(failure);

    /// <summary>What a failure to open means.</summary>
    public static PartitionRefusal Of(Exception failure)
    {
        ArgumentNullException.ThrowIfNull(failure);
        return failure switch
        {
            JournalCorruptException e => new(
                ErrorCode.CorruptData,
                $"its journal is damaged: {e.Detail} in {e.File} at byte {e.Position}; offsets {e.FirstOffset} to "
                    + $"{e.LastOffset} are lost or unreachable. Nothing was changed; stop the broker, and 'lightq "
                    + $"journal repair' says what can be mended.",
                e.Message
            ),
            JournalMissingException e => new(
                ErrorCode.CorruptData,
                "its journal is gone: there is neither a checkpoint nor a segment. Stop the broker and put it back "
                    + "from a copy, or delete the topic and lose its messages.",
                e.Message
            ),
            JournalFormatException e => new(
                ErrorCode.TopicFailed,
                "a file of its journal is of another version or of another topic; the broker's log says which.",
                e.Message
            ),
            _ => new(
                ErrorCode.TopicFailed,
                "its journal cannot be opened; the broker's log says why.",
                failure.Message
            ),
        };
    }
}
