namespace LightQ.Broker.DeadLetters;

/// <summary>What a request about a letter has come to. The numbers are those of the control plane.</summary>
internal enum LetterOutcome
{
    /// <summary>The node that leads the original answers.</summary>
    Elsewhere = 0,

    /// <summary>Done, and settled.</summary>
    Done = 1,

    /// <summary>It was settled before.</summary>
    SettledBefore = 2,

    /// <summary>There is no such letter.</summary>
    NotFound = 3,

    /// <summary>The topic no longer holds the original.</summary>
    OriginalGone = 4,

    /// <summary>The group has the original to settle.</summary>
    OriginalUnsettled = 5,
}
