namespace LightQ.ClusterTests.Model;

/// <summary>What an owner believes of itself.</summary>
internal enum OwnerPhase : byte
{
    /// <summary>Has replayed the stream and sent its claim.</summary>
    Claiming,

    /// <summary>Takes batches.</summary>
    Owner,

    /// <summary>Was refused and sends nothing more, but listens to answers: without R2 alone.</summary>
    Listening,

    /// <summary>Does nothing more. What it has sent may still arrive.</summary>
    Over,
}
