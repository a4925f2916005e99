namespace LightQ.Tests.Storage.Faults;

/// <summary>A batch as its producer knows it.</summary>
internal sealed record ModelBatch(
    byte[] Bytes,
    ulong Producer,
    int Number,
    long BaseOffset,
    long NextOffset,
    long EndPosition
);
