using System.Text;

namespace LightQ.Broker.Replication;

/// <summary>Who claims a partition: the body of a claim.</summary>
/// <param name="Node">The node's name.</param>
/// <param name="Token">Made anew for each claim, so that its writer knows it again.</param>
internal readonly record struct Claimant(string Node, Guid Token)
{
    private const int TokenSize = 16;

    /// <summary>The bytes of it.</summary>
    public byte[] Encode() => [.. Token.ToByteArray(), .. Encoding.UTF8.GetBytes(Node)];

    /// <summary>Reads what <see cref="Encode"/> made.</summary>
    public static Claimant? Decode(ReadOnlySpan<byte> bytes) =>
        bytes.Length < TokenSize
            ? null
            : new Claimant(Encoding.UTF8.GetString(bytes[TokenSize..]), new Guid(bytes[..TokenSize]));
}
