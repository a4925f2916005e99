using System.Buffers;

namespace LightQ.Tests.Protocol;

/// <summary>Cuts bytes into a <see cref="ReadOnlySequence{T}"/> of several segments.</summary>
internal static class Segments
{
    /// <summary>The bytes, cut in front of each of <paramref name="cuts"/>, which ascend.</summary>
    public static ReadOnlySequence<byte> Of(byte[] bytes, params int[] cuts)
    {
        var first = new Segment(bytes.AsMemory(0, cuts.Length == 0 ? bytes.Length : cuts[0]), null);
        Segment last = first;
        for (int i = 0; i < cuts.Length; i++)
        {
            int end = i + 1 < cuts.Length ? cuts[i + 1] : bytes.Length;
            last = new Segment(bytes.AsMemory(cuts[i]..end), last);
        }
        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }

    private sealed class Segment : ReadOnlySequenceSegment<byte>
    {
        public Segment(ReadOnlyMemory<byte> memory, Segment? previous)
        {
            Memory = memory;
            if (previous is null)
                return;
            RunningIndex = previous.RunningIndex + previous.Memory.Length;
            previous.Next = this;
        }
    }
}
