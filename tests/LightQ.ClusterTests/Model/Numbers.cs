namespace LightQ.ClusterTests.Model;

/// <summary>The last number of each of the two named producers.</summary>
internal readonly record struct Numbers(byte Bits)
{
    /// <summary>How many named producers there are.</summary>
    public const int Producers = 2;

    public int this[int producer] => (Bits >> (4 * producer)) & 15;

    public Numbers With(int producer, int number) =>
        new((byte)((Bits & ~(15 << (4 * producer))) | (number << (4 * producer))));

    /// <summary>Batch 2 of the first producer is <c>P2</c>.</summary>
    public static string NameOf(int producer, int number) => $"{(producer == 0 ? 'P' : 'Q')}{number}";

    public override string ToString() => $"{NameOf(0, this[0])} {NameOf(1, this[1])}";
}
