namespace LightQ.Client;

/// <summary>
/// What keeps a group, or one of its members, from getting messages. The numbers are those of the control plane.
/// </summary>
public enum GroupHold
{
    /// <summary>The group has no members.</summary>
    NoMembers = 1,

    /// <summary>The group is paused.</summary>
    Paused = 2,

    /// <summary>Everything was delivered and settled.</summary>
    NothingLeft = 3,

    /// <summary>All that is left is with members.</summary>
    Locked = 4,

    /// <summary>What is left comes again later.</summary>
    Delayed = 5,

    /// <summary>The member has no credit.</summary>
    NoCredit = 6,

    /// <summary>The member holds as many messages as it asked for at most.</summary>
    InFlight = 7,

    /// <summary>The partition is another member's.</summary>
    NotAssigned = 8,

    /// <summary>The member that had the partition before still holds messages of it.</summary>
    HandingOver = 9,

    /// <summary>What is not settled lies in too many pieces.</summary>
    TooManyPieces = 10,

    /// <summary>Messages were appended and are not yet as safe as consumers need them to be.</summary>
    NotDurable = 11,

    /// <summary>The topic has failed.</summary>
    TopicFailed = 12,

    /// <summary>Messages that were given up cannot be stored in the dead-letter topic.</summary>
    DeadLetters = 13,

    /// <summary>Messages are being read from the disk.</summary>
    Reading = 14,
}
