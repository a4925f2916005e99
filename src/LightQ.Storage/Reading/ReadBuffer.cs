namespace LightQ.Storage.Reading;

/// <summary>A pinned buffer for data read from the disk.</summary>
internal sealed class ReadBuffer(int bytes)
{
    public byte[] Bytes { get; } = GC.AllocateUninitializedArray<byte>(bytes, pinned: true);
}
