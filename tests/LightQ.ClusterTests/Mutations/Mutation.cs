namespace LightQ.ClusterTests.Mutations;

/// <summary>What a node does wrong: one of the rules of the log that it leaves out.</summary>
public enum Mutation
{
    None,

    /// <summary>R1: what an owner appends names no sequence.</summary>
    NoCondition,

    /// <summary>R2 and R3: two appends are under way, each is acked by itself, and every entry counts.</summary>
    TwoUnderWay,

    /// <summary>R2: two appends are under way, and an answer counts whatever became of the one in front.</summary>
    AckByAnswerAlone,

    /// <summary>R3: a batch counts in whichever epoch it was appended.</summary>
    NoEpochCheck,

    /// <summary>R3: a batch counts wherever its offset is.</summary>
    NoOffsetCheck,

    /// <summary>R4: a takeover starts from the last snapshot that it finds.</summary>
    LastSnapshot,

    /// <summary>What was not answered is sent again.</summary>
    ResendAfterUnknown,
}
