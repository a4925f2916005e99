using System.Globalization;

namespace LightQ.IntegrationTests.Faults;

/// <summary>A partition and an offset in it, in one number: of partition 0 it is the offset.</summary>
internal static class LogPlace
{
    private const int OffsetBits = 48;

    public static long Of(int partition, long offset) => ((long)partition << OffsetBits) + offset;

    public static int PartitionOf(long place) => (int)(place >> OffsetBits);

    public static long OffsetOf(long place) => place & ((1L << OffsetBits) - 1);

    /// <summary>For people; a place below 0 is none.</summary>
    public static string Describe(long place) =>
        place < 0 ? "no place" : string.Create(CultureInfo.InvariantCulture, $"{PartitionOf(place)}/{OffsetOf(place)}");
}
