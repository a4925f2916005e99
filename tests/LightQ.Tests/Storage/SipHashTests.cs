using System.Buffers.Binary;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class SipHashTests
{
    private static readonly byte[] Bytes = [.. Enumerable.Range(0, 40).Select(i => (byte)i)];

    /// <summary>The values of OpenSSL's SIPHASH with 16 bytes, under the key 00 01 .. 0f.</summary>
    [Theory]
    [InlineData("", "a3817f04ba25a8e66df67214c7550293")]
    [InlineData("00", "da87c1d86b99af44347659119b22fc45")]
    [InlineData("0001020304050607", "3b62a9ba6258f5610f83e264f31497b4")]
    [InlineData("000102030405060708090a0b0c0d0e0f101112", "78017731cf65fab074d5208952512eb1")]
    public void The_vectors_of_128_bits_hold(string bytes, string expected)
    {
        UInt128 key = BinaryPrimitives.ReadUInt128LittleEndian(Bytes);
        byte[] hash = new byte[16];
        BinaryPrimitives.WriteUInt128LittleEndian(hash, SipHash.Compute128(key, Convert.FromHexString(bytes)));
        Assert.Equal(expected, Convert.ToHexStringLower(hash));
    }

    /// <summary>
    /// Those of the reference implementation, under the same key: of nothing, and of the bytes from 0 on.
    /// </summary>
    [Theory]
    [InlineData(0, 0x726FDB47DD0E0E31)]
    [InlineData(1, 0x93F5F5799A932462)]
    [InlineData(5, 0x0E3EA96B5304A7D0)]
    public void The_vectors_of_64_bits_hold(int words, ulong expected)
    {
        ulong[] input = [.. Enumerable.Range(0, words).Select(i => Word(i))];
        Assert.Equal(expected, SipHash.Compute64(Word(0), Word(1), input));
    }

    private static ulong Word(int index) => BinaryPrimitives.ReadUInt64LittleEndian(Bytes.AsSpan(8 * index));
}
