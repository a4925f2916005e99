using System.Buffers.Binary;
using LightQ.Protocol.Checksums;
using LightQ.Storage;
using LightQ.Storage.Recovery;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class EpochFileTests
{
    private static readonly List<(uint Epoch, long FirstOffset)> Epochs = [(1, 0), (2, 1000), (5, 2000)];

    [Fact]
    public void What_is_written_is_read_again() =>
        Assert.Equal(Epochs, EpochFile.Parse(EpochFile.Encode(Epochs), "epochs"));

    [Fact]
    public void Any_changed_bit_is_damage_and_never_another_version()
    {
        foreach (byte[] whole in new[] { EpochFile.Encode(Epochs), OfVersion(1) })
        {
            for (int bit = 0; bit < whole.Length * 8; bit++)
            {
                byte[] bytes = [.. whole];
                bytes[bit / 8] ^= (byte)(1 << (bit % 8));
                Assert.True(
                    EpochFile.Parse(bytes, "epochs") is null,
                    $"Bit {bit % 8} of byte {bit / 8} went unnoticed."
                );
            }
        }
    }

    [Fact]
    public void A_file_of_the_first_version_is_read() => Assert.Equal(Epochs, EpochFile.Parse(OfVersion(1), "epochs"));

    [Fact]
    public void A_file_of_a_later_version_is_refused()
    {
        JournalFormatException error = Assert.Throws<JournalFormatException>(() =>
            EpochFile.Parse(OfVersion(3), "epochs")
        );
        Assert.Contains("version 3", error.Message, StringComparison.Ordinal);
    }

    /// <summary>Version 1 had its version outside of the checksum.</summary>
    private static byte[] OfVersion(uint version)
    {
        byte[] bytes = EpochFile.Encode(Epochs);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), version);
        uint crc =
            version == 1
                ? Crc32C.Compute(bytes.AsSpan(16))
                : Crc32C.Append(Crc32C.Compute(bytes.AsSpan(0, 12)), bytes.AsSpan(16));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(12), crc);
        return bytes;
    }
}
