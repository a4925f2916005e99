namespace LightQ.Storage;

/// <summary>Reads a journal from a position on; used by one thread at a time.</summary>
public sealed class JournalReader : IDisposable
{
    /// <summary>Makes a reader at the earliest offset.</summary>
    public JournalReader(Journal journal, Action onReady) => (Journal, OnReady) = (journal, onReady);

    /// <summary>The journal.</summary>
    public Journal Journal { get; }

    /// <summary>Called from a reader thread after Pending.</summary>
    public Action OnReady { get; }

    /// <summary>The offset that comes next.</summary>
    public long NextOffset => throw new NotImplementedException();

    /// <summary>The gap of the last <see cref="ReadResult.Gap"/>.</summary>
    public LogGap Gap => throw new NotImplementedException();

    /// <summary>Goes to an offset; one below the start gives a gap, one beyond the end waits there.</summary>
    public void SeekToOffset(long offset) => throw new NotImplementedException();

    /// <summary>Goes to the first offset that can be read.</summary>
    public void SeekToStart() => throw new NotImplementedException();

    /// <summary>Goes to the readable end.</summary>
    public void SeekToEnd() => throw new NotImplementedException();

    /// <summary>Goes to the first batch appended at a time (unix microseconds) or later.</summary>
    public void SeekToTime(long appendTime) => throw new NotImplementedException();

    /// <summary>Gets the next run of whole batches.</summary>
    public ReadResult TryRead(int maxBytes, out LogRun run) => throw new NotImplementedException();

    /// <summary>Goes behind the run and gives it back.</summary>
    public void Advance() => throw new NotImplementedException();

    /// <summary>Gives the run back without going on: the next read gives it again.</summary>
    public void Release() => throw new NotImplementedException();

    /// <summary>Gives everything back.</summary>
    public void Dispose() => throw new NotImplementedException();
}
