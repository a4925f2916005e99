// Unsafe: takes the address of a pinned array.
using System.Runtime.CompilerServices;

namespace LightQ.Disruptor;

/// <summary>
/// A ring in a pinned managed array; freed by the garbage collector, so disposing it has nothing to do.
/// </summary>
internal sealed unsafe class PinnedRingMemory : RingMemory
{
    private readonly PinnedWords _control = new(ControlBlock.PrivateSize);
    private PinnedWords? _bits;

    public PinnedRingMemory(int capacity)
        : base(capacity)
    {
        byte[] array = GC.AllocateArray<byte>(capacity, pinned: true);
        Pointer = (byte*)Unsafe.AsPointer(ref array[0]);
        Memory = array;
        Control = new ControlBlock(_control.Address);
        Control.Adopt(capacity);
    }

    internal override long* PublishedBits() => (long*)(_bits ??= new PinnedWords(Capacity / 64)).Address;

    private protected override void Dispose(bool disposing) { }
}
