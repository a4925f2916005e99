using System.Buffers.Binary;
using LightQ.Protocol.Checksums;

namespace LightQ.Storage.Inspection;

/// <summary>Chooses four bytes so that a CRC-32C comes out as wanted.</summary>
/// <remarks>
/// A checksum of 32 bits has exactly one solution for four open bytes. So a gap batch takes the header checksum of the
/// batch it stands for, and everything behind it, which refers to that checksum, stays as it is.
/// </remarks>
internal static class CrcSolver
{
    private const uint Polynomial = 0x82F63B78;

    /// <summary>Sets the open bytes.</summary>
    /// <param name="before">What is hashed first.</param>
    /// <param name="rest">What is hashed behind it; its four bytes at <paramref name="openAt"/> are set.</param>
    /// <param name="openAt">Where in <paramref name="rest"/> the open bytes are.</param>
    /// <param name="crc">The checksum of all of it.</param>
    public static void Solve(ReadOnlySpan<byte> before, Span<byte> rest, int openAt, uint crc)
    {
        uint state = ~Crc32C.Append(Crc32C.Compute(before), rest[..openAt]);
        uint wanted = ~crc;
        for (int i = rest.Length - 1; i >= openAt + sizeof(uint); i--)
            wanted = Back(wanted) ^ rest[i];
        for (int i = 0; i < sizeof(uint); i++)
            wanted = Back(wanted);
        BinaryPrimitives.WriteUInt32LittleEndian(rest[openAt..], state ^ wanted);
    }

    /// <summary>The register before eight steps without input.</summary>
    private static uint Back(uint state)
    {
        for (int bit = 0; bit < 8; bit++)
            state = (state & 0x8000_0000) != 0 ? ((state ^ Polynomial) << 1) | 1 : state << 1;
        return state;
    }
}
