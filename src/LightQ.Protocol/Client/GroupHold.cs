namespace LightQ.Client;

/// <summary>Why a group, or one of its members, gets no messages. The numbers are those of the control plane.</summary>
public enum GroupHold
{
    /// <summary>The group has no members.</summary>
    NoMembers = 1,

    /// <summary>The group is paused.</summary>
    Paused = 2,

    /// <summary>All messages were delivered and settled.</summary>
    NothingLeft = 3,

    /// <summary>Members hold all messages that are left, locked.</summary>
    Locked = 4,

    /// <summary>All messages that are left are redelivered later.</summary>
    Delayed = 5,

    /// <summary>The member has no credit.</summary>
    NoCredit = 6,

    /// <summary>The member holds its maximum number of messages.</summary>
    InFlight = 7,

    /// <summary>The partition belongs to another member.</summary>
    NotAssigned = 8,

    /// <summary>The member to which the partition belonged before still holds messages of it.</summary>
    HandingOver = 9,

    /// <summary>The messages that are not settled lie in too many separate ranges.</summary>
    TooManyPieces = 10,

    /// <summary>Messages were appended and are not yet safe enough for consumers to read them.</summary>
    NotDurable = 11,

    /// <summary>The topic has failed.</summary>
    TopicFailed = 12,

    /// <summary>Dead-lettered messages cannot be stored in the dead-letter topic.</summary>
    DeadLetters = 13,

    /// <summary>The broker is reading messages from the disk.</summary>
    Reading = 14,
}
