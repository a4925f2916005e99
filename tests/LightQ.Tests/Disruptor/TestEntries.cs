using System.Runtime.InteropServices;
using LightQ.Disruptor;
using Xunit;

namespace LightQ.Tests.Disruptor;

/// <summary>Entries whose every byte is known from their number: length word, number, then a pattern.</summary>
internal static class TestEntries
{
    public const int MinLength = 16;

    public static ClaimResult TryPublish(ByteRing ring, int length, int number, int producer = 0)
    {
        ClaimResult result = ring.TryClaim(length, out RingClaim claim);
        if (result == ClaimResult.Claimed)
        {
            Fill(claim, number, producer);
            ring.Publish(claim);
        }

        return result;
    }

    public static void Publish(ByteRing ring, int length, int number) =>
        Assert.Equal(ClaimResult.Claimed, TryPublish(ring, length, number));

    public static void Fill(RingClaim claim, int number, int producer = 0)
    {
        Span<byte> entry = claim.Span;
        MemoryMarshal.Write(entry[4..], number);
        MemoryMarshal.Write(entry[8..], producer);
        MemoryMarshal.Write(entry[12..], entry.Length);
        entry[MinLength..].Fill((byte)number);
    }

    public static int Number(ReadOnlySpan<byte> entry) => MemoryMarshal.Read<int>(entry[4..]);

    public static int Producer(ReadOnlySpan<byte> entry) => MemoryMarshal.Read<int>(entry[8..]);

    /// <summary>True if the entry is exactly what <see cref="Fill"/> wrote.</summary>
    public static bool IsWhole(ReadOnlySpan<byte> entry) =>
        entry.Length >= MinLength
        && MemoryMarshal.Read<int>(entry) == entry.Length
        && MemoryMarshal.Read<int>(entry[12..]) == entry.Length
        && entry[MinLength..].IndexOfAnyExcept((byte)Number(entry)) < 0;

    /// <summary>Reads everything that is published from a position on, run by run.</summary>
    public static List<int> ReadAll(ByteRing ring, ref long position, int maxBytes = int.MaxValue)
    {
        var numbers = new List<int>();
        while (ring.TryGetRun(position, maxBytes, out RingRun run))
        {
            foreach (ReadOnlySpan<byte> entry in run)
            {
                Assert.True(IsWhole(entry));
                numbers.Add(Number(entry));
            }

            position = run.NextPosition;
        }

        return numbers;
    }
}
