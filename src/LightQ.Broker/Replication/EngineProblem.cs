namespace LightQ.Broker.Replication;

/// <summary>What is wrong with a part of an engine.</summary>
public enum EngineProblemKind
{
    /// <summary>A node of the engine cannot be reached, or the others do not hear it.</summary>
    NodeOffline = 1,

    /// <summary>A node of the engine runs, and stores nothing.</summary>
    NodeOff = 2,

    /// <summary>A replica of streams lacks what the others have.</summary>
    ReplicaLags = 3,

    /// <summary>A limit of the engine is nearly reached.</summary>
    LimitNear = 4,

    /// <summary>A limit of the engine is reached: it takes nothing more.</summary>
    LimitReached = 5,

    /// <summary>A stream has no leader within the engine: it takes nothing, and is not read.</summary>
    NoLeader = 6,
}

/// <summary>Something that is wrong with a part of an engine, as it can be seen from here.</summary>
/// <param name="Kind">What.</param>
/// <param name="Subject">Of what: the name of a node, or a limit.</param>
/// <param name="Detail">What was found, with figures where there are some; no sentence's end.</param>
/// <param name="Remedy">What to do, as a sentence.</param>
public sealed record EngineProblem(EngineProblemKind Kind, string Subject, string Detail, string Remedy);
