// Unsafe: the length word is read and written in place, in memory the garbage collector may not own.
using System.Runtime.CompilerServices;

namespace LightQ.Disruptor;

/// <summary>The first four bytes of every entry, in the machine's (little-endian) order.</summary>
/// <remarks>
/// <code>
///  31 30                                  0
/// +--+-------------------------------------+
/// |P | length of the entry in bytes        |   P = 1: padding, nothing to read
/// +--+-------------------------------------+
/// </code>
/// The length counts the word itself and is a multiple of <see cref="Alignment"/>.
/// </remarks>
internal static unsafe class EntryWord
{
    public const int Alignment = 8;
    public const uint PaddingFlag = 0x8000_0000;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Read(byte* entry) => *(uint*)entry;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Write(byte* entry, int length) => *(uint*)entry = (uint)length;

    public static void WritePadding(byte* entry, int length) => *(uint*)entry = (uint)length | PaddingFlag;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsPadding(uint word) => (int)word < 0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Length(uint word) => (int)(word & ~PaddingFlag);

    /// <summary>False for what a reader sees when the entry was overwritten under it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsPlausible(int length, long available) =>
        length >= Alignment && (length & (Alignment - 1)) == 0 && length <= available;
}
