namespace LightQ.Broker.Logs;

/// <summary>What reading at a cursor found.</summary>
public enum ReadResult
{
    /// <summary>A run.</summary>
    Run,

    /// <summary>Nothing is readable there yet.</summary>
    AtEnd,

    /// <summary>The run is being read from disk; the reader's callback says when to try again.</summary>
    Pending,

    /// <summary>Offsets that are gone; the reader stands behind them.</summary>
    Gap,
}
