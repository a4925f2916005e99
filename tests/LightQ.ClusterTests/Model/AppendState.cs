namespace LightQ.ClusterTests.Model;

/// <summary>Where an append is.</summary>
internal enum AppendState : byte
{
    /// <summary>Between owner and stream, for as long as it likes.</summary>
    Sent,

    /// <summary>The stream has it; the answer is on its way, for as long as it likes.</summary>
    Stored,

    /// <summary>The stream refuses it: it expects an end that has gone by. Its owner may not know yet.</summary>
    Refused,
}
