using System.Globalization;
using System.Text;

namespace LightQ.ClusterTests.Faults;

/// <summary>What the load publishes: which producer's message it is, and its number from 0.</summary>
internal readonly record struct Sent(int Producer, int Number)
{
    public byte[] Encode() =>
        Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{Producer}:{Number}"));

    public static Sent Decode(ReadOnlySpan<byte> body)
    {
        string[] parts = Encoding.UTF8.GetString(body).Split(':');
        return new Sent(
            int.Parse(parts[0], CultureInfo.InvariantCulture),
            int.Parse(parts[1], CultureInfo.InvariantCulture)
        );
    }
}
