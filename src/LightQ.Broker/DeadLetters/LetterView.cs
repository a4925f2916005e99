namespace LightQ.Broker.DeadLetters;

/// <summary>A letter, in place: valid while it is handed out.</summary>
internal readonly ref struct LetterView(RecordView record, LetterOrigin origin, bool isSettled, bool hasOriginal)
{
    /// <summary>The letter as it is stored.</summary>
    public RecordView Record { get; } = record;

    /// <summary>Where its original is.</summary>
    public LetterOrigin Origin { get; } = origin;

    /// <summary>Whether it was redriven or deleted.</summary>
    public bool IsSettled { get; } = isSettled;

    /// <summary>Whether the topic still holds the original.</summary>
    public bool HasOriginal { get; } = hasOriginal;
}
