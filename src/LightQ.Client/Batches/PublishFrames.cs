using LightQ.Protocol.Frames;

namespace LightQ.Client.Batches;

/// <summary>
/// Puts completed batches into frames: an ordinary one into one of its own, the short ones of messages with an id
/// together.
/// </summary>
internal static class PublishFrames
{
    /// <summary>What a frame of several batches holds at most: more would only reach the broker later.</summary>
    private const int MostBytes = 64 * 1024;

    /// <summary>
    /// How many short batches go out with one send, where others are fewer: together they are as long as one of those.
    /// </summary>
    public const int MostSegments = 64;

    /// <summary>Adds the frames to what is sent.</summary>
    /// <param name="segments">Where they go.</param>
    /// <param name="batches">Completed batches of one stream.</param>
    /// <param name="first">The first of them.</param>
    /// <param name="maxBatchBytes">The largest batch; no frame of several is longer.</param>
    public static void Add(List<ArraySegment<byte>> segments, List<SendBatch> batches, int first, int maxBatchBytes)
    {
        int most = Math.Min(MostBytes, maxBatchBytes);
        for (int i = first; i < batches.Count; i++)
        {
            SendBatch head = batches[i];
            segments.Add(head.Frame);
            if (head.Properties.MessageId is null)
                continue;
            int length = head.Length;
            while (
                i + 1 < batches.Count
                && batches[i + 1] is { Properties.MessageId: not null } next
                && length + next.Length <= most
            )
            {
                segments.Add(next.Bytes);
                length += next.Length;
                i++;
            }
            head.SetFrameLength(FrameHeader.Size + length);
        }
    }
}
