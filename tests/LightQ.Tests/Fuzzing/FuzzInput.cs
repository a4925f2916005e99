using System.Buffers.Binary;
using System.Text;

namespace LightQ.Tests.Fuzzing;

/// <summary>
/// Makes hostile inputs of valid ones: flips bits, cuts, repeats, splices two, and puts extreme numbers where a length
/// may be.
/// </summary>
internal sealed class FuzzInput
{
    private const int MostMutations = 6;
    private static readonly long[] Extremes =
    [
        0,
        1,
        2,
        3,
        7,
        8,
        15,
        16,
        31,
        32,
        63,
        64,
        95,
        96,
        127,
        128,
        255,
        256,
        4095,
        4096,
        short.MaxValue,
        short.MaxValue + 1,
        ushort.MaxValue - 1,
        ushort.MaxValue,
        ushort.MaxValue + 1,
        1 << 20,
        1 << 24,
        int.MaxValue - 8,
        int.MaxValue - 1,
        int.MaxValue,
        int.MinValue,
        uint.MaxValue - 1,
        uint.MaxValue,
        1L << 32,
        long.MaxValue - 1,
        long.MaxValue,
        long.MinValue,
        -1,
        -2,
        -8,
    ];

    private readonly FuzzTarget _target;
    private readonly IReadOnlyList<byte[]> _corpus;
    private int _length;

    /// <param name="target">Who gets the inputs.</param>
    /// <param name="corpus">What they are made of.</param>
    public FuzzInput(FuzzTarget target, IReadOnlyList<byte[]> corpus)
    {
        (_target, _corpus) = (target, corpus);
        Buffer = new byte[target.MaxLength];
    }

    /// <summary>The memory of all inputs.</summary>
    public byte[] Buffer { get; }

    /// <summary>The input of an execution, valid until the next.</summary>
    public ReadOnlySpan<byte> Make(FuzzRandom random)
    {
        byte[] seed = _corpus[random.Below(_corpus.Count)];
        _length = Math.Min(seed.Length, Buffer.Length);
        seed.AsSpan(0, _length).CopyTo(Buffer);
        // Few more often than many.
        for (int left = 1 + random.Below(1 + random.Below(MostMutations)); left > 0; left--)
            Mutate(ref random);
        if (_target.Seal is not null && random.Below(2) == 0)
            _target.Seal(Buffer, _length);
        return Buffer.AsSpan(0, _length);
    }

    private void Mutate(ref FuzzRandom random)
    {
        int at = random.Below(_length);
        switch (random.Below(16))
        {
            case 0 or 1 when _length > 0:
                Buffer[at] ^= (byte)(1 << random.Below(8));
                break;
            case 2 when _length > 0:
                Buffer[at] = (byte)random.Next();
                break;
            case 3 or 4 or 5:
                PutNumber(ref random, at, Extremes[random.Below(Extremes.Length)]);
                break;
            case 6:
                PutNumber(ref random, at, _length - at + random.Below(17) - 8);
                break;
            case 7:
                PutNear(ref random, at);
                break;
            case 8:
                _length = random.Below(_length + 1);
                break;
            case 9:
                Remove(at, random.Below(Math.Min(_length - at, 64) + 1));
                break;
            case 10:
                Insert(at, Buffer.AsSpan(at, random.Below(Math.Min(_length - at, 64) + 1)).ToArray());
                break;
            case 11:
                Splice(ref random, at);
                break;
            case 12:
                Fill(ref random);
                break;
            case 13 when _target.Tokens.Count > 0:
                Insert(at, _target.Tokens[random.Below(_target.Tokens.Count)]);
                break;
            case 14 when _target.Tokens.Count > 0:
                Overwrite(at, _target.Tokens[random.Below(_target.Tokens.Count)]);
                break;
            case 15:
                Insert(
                    at,
                    Encoding.ASCII.GetBytes(
                        Extremes[random.Below(Extremes.Length)]
                            .ToString(System.Globalization.CultureInfo.InvariantCulture)
                    )
                );
                break;
        }
    }

    /// <summary>
    /// Writes a number of one, two, four or eight bytes, in either order, most often where such a field would lie.
    /// </summary>
    private void PutNumber(ref FuzzRandom random, int at, long value)
    {
        int width = 1 << random.Below(4);
        if (random.Below(4) != 0)
            at -= at % width;
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
        bytes = bytes[..width];
        if (random.Below(4) == 0)
            bytes.Reverse();
        Overwrite(at, bytes);
    }

    /// <summary>Makes a number a little larger or smaller than it is.</summary>
    private void PutNear(ref FuzzRandom random, int at)
    {
        at -= at % sizeof(int);
        if (at + sizeof(int) <= _length)
        {
            BinaryPrimitives.WriteInt32LittleEndian(
                Buffer.AsSpan(at),
                BinaryPrimitives.ReadInt32LittleEndian(Buffer.AsSpan(at)) + random.Below(33) - 16
            );
        }
    }

    private void Splice(ref FuzzRandom random, int at)
    {
        byte[] other = _corpus[random.Below(_corpus.Count)];
        int from = random.Below(2) == 0 ? Math.Min(at, other.Length) : random.Below(other.Length + 1);
        int count = Math.Min(other.Length - from, Buffer.Length - at);
        other.AsSpan(from, count).CopyTo(Buffer.AsSpan(at));
        _length = at + count;
    }

    private void Fill(ref FuzzRandom random)
    {
        int count = random.Below(Math.Min(64, Buffer.Length - _length) + 1);
        Span<byte> more = Buffer.AsSpan(_length, count);
        if (random.Below(2) == 0)
        {
            more.Fill((byte)random.Next());
        }
        else
        {
            for (int i = 0; i < count; i++)
                more[i] = (byte)random.Next();
        }

        _length += count;
    }

    private void Overwrite(int at, ReadOnlySpan<byte> bytes)
    {
        int count = Math.Min(bytes.Length, _length - at);
        bytes[..count].CopyTo(Buffer.AsSpan(at));
    }

    private void Insert(int at, ReadOnlySpan<byte> bytes)
    {
        int count = Math.Min(bytes.Length, Buffer.Length - _length);
        Buffer.AsSpan(at, _length - at).CopyTo(Buffer.AsSpan(at + count));
        bytes[..count].CopyTo(Buffer.AsSpan(at));
        _length += count;
    }

    private void Remove(int at, int count)
    {
        Buffer.AsSpan((at + count).._length).CopyTo(Buffer.AsSpan(at));
        _length -= count;
    }
}
