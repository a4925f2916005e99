// Unsafe: takes the address of a mapped file.
using System.IO.MemoryMappedFiles;

namespace LightQ.Disruptor;

/// <summary>
/// A ring in a file: control block, bytes, then one bit per 8 bytes. All zeros is a valid empty ring.
/// </summary>
internal sealed unsafe class MappedRingMemory : RingMemory
{
    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private byte* _origin;

    public MappedRingMemory(string path, int capacity)
        : base(capacity)
    {
        long size = ControlBlock.Size + (long)capacity + (capacity / 64);
        var stream = new FileStream(
            path,
            FileMode.OpenOrCreate,
            FileAccess.ReadWrite,
            FileShare.ReadWrite | FileShare.Delete,
            bufferSize: 0
        );
        try
        {
            long found = stream.Length;
            if (found != 0 && found != size)
            {
                throw new InvalidDataException($"'{path}' has {found} bytes; a ring of {capacity} bytes has {size}.");
            }

            stream.SetLength(size);
            _file = MemoryMappedFile.CreateFromFile(
                stream,
                null,
                size,
                MemoryMappedFileAccess.ReadWrite,
                HandleInheritability.None,
                leaveOpen: false
            );
        }
        catch
        {
            stream.Dispose();
            throw;
        }

        _view = _file.CreateViewAccessor(0, size);
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref _origin);
        _origin += _view.PointerOffset;
        Pointer = _origin + ControlBlock.Size;
        Memory = new UnmanagedBlock(this, Pointer, capacity).Memory;
        Control = new ControlBlock(_origin);
        try
        {
            Control.Adopt(capacity);
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    public override bool IsShared => true;

    internal override long* PublishedBits() => (long*)(Pointer + Capacity);

    private protected override void Dispose(bool disposing)
    {
        if (!disposing || _origin == null)
        {
            return;
        }

        _origin = null;
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }
}
