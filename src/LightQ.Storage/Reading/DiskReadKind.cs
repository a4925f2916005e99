namespace LightQ.Storage.Reading;

/// <summary>What a read from the disk brought.</summary>
internal enum DiskReadKind
{
    /// <summary>Batches.</summary>
    Run,

    /// <summary>Offsets that will not come.</summary>
    Gap,

    /// <summary>Only where to look: the target's position is known now.</summary>
    Located,

    /// <summary>An error of the disk.</summary>
    Failed,
}
