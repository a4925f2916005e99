namespace LightQ.Broker.Replication;

/// <summary>A stream that this node owns, and what is found out about it.</summary>
/// <param name="stream">The stream.</param>
/// <param name="ledger">What its owner knows of it.</param>
/// <param name="changed">Called when <see cref="Loss"/> has changed.</param>
internal sealed class WatchedStream(IReplicatedStream stream, StreamLedger ledger, Action<string?> changed)
{
    /// <summary>What it lacks; null while it is whole.</summary>
    public string? Loss { get; private set; }

    /// <summary>Asks the engine, and compares.</summary>
    /// <exception cref="ReplicationException">The engine does not answer.</exception>
    public async Task<string?> LookAsync(CancellationToken cancellationToken)
    {
        (ulong, int) before = ledger.Stand;
        StreamReport report = await stream.ExamineAsync(cancellationToken).ConfigureAwait(false);
        return ledger.FindLoss(before, report);
    }

    /// <summary>Notes what was found out. One thread at a time.</summary>
    public void Set(string? loss)
    {
        bool isNews = (loss is null) != (Loss is null);
        Loss = loss;
        if (isNews)
            changed(loss);
    }
}
