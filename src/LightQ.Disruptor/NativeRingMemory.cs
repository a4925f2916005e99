// Unsafe: asks the system for memory and hands out its address.
using System.Runtime.InteropServices;

namespace LightQ.Disruptor;

/// <summary>
/// A ring outside the managed heap. The cursors stay in managed memory, so reading them after Dispose is harmless.
/// </summary>
internal sealed unsafe class NativeRingMemory : RingMemory
{
    private readonly PinnedWords _control = new(ControlBlock.PrivateSize);
    private readonly bool _mapped;
    private PinnedWords? _bits;

    public NativeRingMemory(int capacity)
        : base(capacity)
    {
        // On Linux an anonymous mapping, because only that can be given back page by page.
        _mapped = OperatingSystem.IsLinux();
        Pointer = _mapped
            ? AnonymousMapping.Reserve(capacity)
            : (byte*)NativeMemory.AlignedAlloc((nuint)capacity, ControlBlock.Size);
        Memory = new UnmanagedBlock(this, Pointer, capacity).Memory;
        Control = new ControlBlock(_control.Address);
        Control.Adopt(capacity);
    }

    ~NativeRingMemory() => Dispose(disposing: false);

    internal override long* PublishedBits() => (long*)(_bits ??= new PinnedWords(Capacity / 64)).Address;

    internal override bool Discard() => _mapped && AnonymousMapping.Discard(Pointer, Capacity);

    private protected override void Dispose(bool disposing)
    {
        byte* pointer = Pointer;
        Pointer = null;
        if (pointer == null)
        {
            return;
        }

        if (_mapped)
        {
            AnonymousMapping.Release(pointer, Capacity);
        }
        else
        {
            NativeMemory.AlignedFree(pointer);
        }
    }
}
