namespace LightQ.Storage.Files;

/// <summary>
/// Bugs that a build may plant, one at a time, to see whether a test turns red: <c>-p:Mutant=NoFsync</c> and so on
/// (<c>tests/mutants.sh</c>).
/// </summary>
/// <remarks>In any other build each is a constant, of which the just-in-time compiler leaves nothing.</remarks>
internal static class Mutation
{
    /// <summary>The journal's bytes are never synced, and counted as if they were.</summary>
    public static bool NoFsync =>
#if MUTANT_NOFSYNC
        true;
#else
        false;
#endif

    /// <summary>Names of producers and ids of messages are anybody's.</summary>
    public static bool AnyOwner =>
#if MUTANT_ANYOWNER
        true;
#else
        false;
#endif

    /// <summary>One user, or one address, may have all that others share.</summary>
    public static bool NoShares =>
#if MUTANT_NOSHARES
        true;
#else
        false;
#endif

    /// <summary>Groups that nobody uses stay for ever.</summary>
    public static bool NoGroupExpiry =>
#if MUTANT_NOGROUPEXPIRY
        true;
#else
        false;
#endif

    /// <summary>The durable end moves before the sync.</summary>
    public static bool AckBeforeFsync =>
#if MUTANT_ACKBEFOREFSYNC
        true;
#else
        false;
#endif

    /// <summary>A new segment's name is not synced.</summary>
    public static bool NoDirectoryFsync =>
#if MUTANT_NODIRECTORYFSYNC
        true;
#else
        false;
#endif

    /// <summary>What lies behind a torn tail stays there.</summary>
    public static bool NoZeroAfterCut =>
#if MUTANT_NOZEROAFTERCUT
        true;
#else
        false;
#endif

    /// <summary>The checkpoint of a log at rest goes on saying that nothing follows.</summary>
    public static bool StayAtRest =>
#if MUTANT_STAYATREST
        true;
#else
        false;
#endif

    /// <summary>Payload checksums are not compared.</summary>
    public static bool NoCrc =>
#if MUTANT_NOCRC
        true;
#else
        false;
#endif

    /// <summary>Every header with a valid checksum counts as one that the log appended.</summary>
    public static bool NoMac =>
#if MUTANT_NOMAC
        true;
#else
        false;
#endif

    /// <summary>The log ends at the first payload that is wrong, whatever had been synced behind it.</summary>
    public static bool CutAtPayload =>
#if MUTANT_CUTATPAYLOAD
        true;
#else
        false;
#endif

    /// <summary>A file that is shorter than it was made, or gone, passes for the end of the log.</summary>
    public static bool TrustLength =>
#if MUTANT_TRUSTLENGTH
        true;
#else
        false;
#endif

    /// <summary>A catalog counts that ends before what is noted of it.</summary>
    public static bool NoRecordEnd =>
#if MUTANT_NORECORDEND
        true;
#else
        false;
#endif

    /// <summary>Files get their length and no blocks.</summary>
    public static bool SparseSegment =>
#if MUTANT_SPARSESEGMENT
        true;
#else
        false;
#endif

    /// <summary>A reader goes on behind a gap without saying so.</summary>
    public static bool SkipGap =>
#if MUTANT_SKIPGAP
        true;
#else
        false;
#endif

    /// <summary>Batches are appended whatever their payload's checksum says.</summary>
    public static bool NoPayloadCheck =>
#if MUTANT_NOPAYLOADCHECK
        true;
#else
        false;
#endif

    /// <summary>An anonymous producer's batches may carry the id of a named one.</summary>
    public static bool AnyProducerId =>
#if MUTANT_ANYPRODUCERID
        true;
#else
        false;
#endif

    /// <summary>Want of space that a sync reports is waited for, like that of a write.</summary>
    public static bool SyncAgain =>
#if MUTANT_SYNCAGAIN
        true;
#else
        false;
#endif

    /// <summary>Records are appended to a file whose name could not be synced.</summary>
    public static bool UnsyncedName =>
#if MUTANT_UNSYNCEDNAME
        true;
#else
        false;
#endif

    /// <summary>Behind a failed sync of the positions no new file is begun.</summary>
    public static bool NoNewFile =>
#if MUTANT_NONEWFILE
        true;
#else
        false;
#endif

    /// <summary>A message whose id is known is acknowledged before the first one is as safe as was asked for.</summary>
    public static bool AckDuplicateAtOnce =>
#if MUTANT_ACKDUPLICATEATONCE
        true;
#else
        false;
#endif

    /// <summary>The ids of messages are not looked for in the log at the start.</summary>
    public static bool NoDedupRecovery =>
#if MUTANT_NODEDUPRECOVERY
        true;
#else
        false;
#endif

    /// <summary>A named producer may have more batches unacknowledged than are remembered.</summary>
    public static bool NoBatchWindow =>
#if MUTANT_NOBATCHWINDOW
        true;
#else
        false;
#endif

    /// <summary>A position counts as kept before it is synced.</summary>
    public static bool UnsyncedPosition =>
#if MUTANT_UNSYNCEDPOSITION
        true;
#else
        false;
#endif

    /// <summary>What a lost member had not begun counts as delivered.</summary>
    public static bool CountWaiting =>
#if MUTANT_COUNTWAITING
        true;
#else
        false;
#endif

    /// <summary>What was in hand at two deaths is given to a member that holds more.</summary>
    public static bool NoAlone =>
#if MUTANT_NOALONE
        true;
#else
        false;
#endif

    /// <summary>Bodies under way are not counted.</summary>
    public static bool NoBodyCount =>
#if MUTANT_NOBODYCOUNT
        true;
#else
        false;
#endif

    /// <summary>Logins take turns by address only.</summary>
    public static bool TurnsByAddress =>
#if MUTANT_TURNSBYADDRESS
        true;
#else
        false;
#endif
}
