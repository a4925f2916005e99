using System.Buffers.Binary;
using System.IO.Hashing;
using System.Numerics;
using BenchmarkDotNet.Attributes;
using LightQ.Protocol.Checksums;

namespace LightQ.Benchmarks.Protocol;

/// <summary>
/// CRC-32C against the obvious loop over the processor's instruction, and against the package that would be taken if it
/// were faster.
/// </summary>
[BenchmarkCategory("protocol")]
public class Crc32CBenchmarks
{
    private byte[] _data = [];

    [Params(64, 112, 1024, 64 * 1024)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _data = new byte[Bytes];
        new Random(1).NextBytes(_data);
    }

    [Benchmark(Baseline = true, Description = "one chain")]
    public uint OneChain()
    {
        uint state = uint.MaxValue;
        for (ReadOnlySpan<byte> left = _data; left.Length >= sizeof(ulong); left = left[sizeof(ulong)..])
            state = BitOperations.Crc32C(state, BinaryPrimitives.ReadUInt64LittleEndian(left));
        return ~state;
    }

    [Benchmark(Description = "Crc32C.Compute")]
    [TimeBudget(1.3)]
    public uint ThreeChains() => Crc32C.Compute(_data);

    [Benchmark(Description = "System.IO.Hashing")]
    public uint Package() => Crc32.HashToUInt32(Crc32ParameterSet.Crc32C, _data);
}
