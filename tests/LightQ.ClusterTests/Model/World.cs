using System.Buffers.Binary;
using System.Collections.Immutable;
using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace LightQ.ClusterTests.Model;

/// <summary>
/// One state of everything: the stream, the owners with their appends under way, and what producers were promised.
/// Never changed: a step makes another one.
/// </summary>
internal sealed record World
{
    private const int MostBytes = 1024;

    /// <summary>What the stream has stored; it only grows.</summary>
    public required ImmutableArray<Entry> Log { get; init; }

    public required ImmutableArray<Owner> Owners { get; init; }

    /// <summary>By owner, in the order sent.</summary>
    public required ImmutableArray<ImmutableArray<Append>> Appends { get; init; }

    /// <summary>Bit n - 1 is set when batch n of P was acked.</summary>
    public byte AckedOfP { get; init; }

    public byte AckedOfQ { get; init; }

    public required byte SnapshotsLeft { get; init; }

    /// <summary>Appends that were sent again, which only an owner without R1 does.</summary>
    public byte Resent { get; init; }

    /// <summary>A stream that begins with the claim of A, which has heard of it.</summary>
    public static World Start(Bounds bounds) =>
        new()
        {
            Log = [Entry.Claim(epoch: 1, offset: 0, names: 0)],
            Owners = [new Owner(OwnerPhase.Owner, 1, 0, default, default, 0, 1, false)],
            Appends =
            [
                [],
            ],
            SnapshotsLeft = (byte)bounds.Snapshots,
        };

    public byte Acked(int producer) => producer == 0 ? AckedOfP : AckedOfQ;

    /// <summary>The first batch that its producer holds for not stored, and sends to whoever is the owner.</summary>
    public int FirstUnacked(int producer) => byte.TrailingZeroCount((byte)~Acked(producer)) + 1;

    public World WithAcked(int producer, int bits) =>
        producer == 0
            ? this with
            {
                AckedOfP = (byte)(AckedOfP | bits),
            }
            : this with
            {
                AckedOfQ = (byte)(AckedOfQ | bits),
            };

    public World With(int owner, Owner value, ImmutableArray<Append> appends) =>
        this with
        {
            Owners = Owners.SetItem(owner, value),
            Appends = Appends.SetItem(owner, appends),
        };

    /// <summary>
    /// Half of a SHA-256 of all there is in it: two states with the same one are a chance of one in 10^24 for ten
    /// million states.
    /// </summary>
    public UInt128 Key()
    {
        Span<byte> bytes = stackalloc byte[MostBytes];
        int used = 0;
        Put(bytes, ref used, Log.AsSpan());
        Put(bytes, ref used, Owners.AsSpan());
        foreach (ImmutableArray<Append> appends in Appends)
            Put(bytes, ref used, appends.AsSpan());
        Put(bytes, ref used, [AckedOfP, AckedOfQ, SnapshotsLeft, Resent]);
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(bytes[..used], hash);
        return BinaryPrimitives.ReadUInt128LittleEndian(hash);
    }

    private static void Put<T>(Span<byte> bytes, ref int used, ReadOnlySpan<T> items)
        where T : unmanaged
    {
        bytes[used++] = (byte)items.Length;
        ReadOnlySpan<byte> content = MemoryMarshal.AsBytes(items);
        content.CopyTo(bytes[used..]);
        used += content.Length;
    }
}
