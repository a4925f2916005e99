// Unsafe: gives an aligned address inside an array that the collector promises not to move.
namespace LightQ.Disruptor;

/// <summary>
/// Zeroed words at a fixed, cache-line aligned address, freed by the garbage collector when unreachable.
/// </summary>
internal sealed unsafe class PinnedWords
{
    private readonly byte[] _array;

    public PinnedWords(int bytes)
    {
        _array = GC.AllocateArray<byte>(bytes + ControlBlock.Line, pinned: true);
        nuint address = (nuint)System.Runtime.CompilerServices.Unsafe.AsPointer(ref _array[0]);
        Address = (byte*)((address + ControlBlock.Line - 1) & ~(nuint)(ControlBlock.Line - 1));
    }

    /// <summary>Valid while this object is reachable.</summary>
    public byte* Address { get; }
}
