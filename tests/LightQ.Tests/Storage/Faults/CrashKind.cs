namespace LightQ.Tests.Storage.Faults;

/// <summary>What a crash leaves of what was not synced.</summary>
internal enum CrashKind
{
    /// <summary>Everything: the process was killed.</summary>
    All,

    /// <summary>Nothing.</summary>
    SyncedOnly,

    /// <summary>Some sectors of some writes, and directory changes up to a random one in each directory.</summary>
    Random,

    /// <summary>Some sectors of some writes, and any of the directory changes: what POSIX allows.</summary>
    RandomNames,
}
