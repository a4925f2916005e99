namespace LightQ.Bench;

/// <summary>Where a bench says what it is doing. Its results are not written here: the bench returns them.</summary>
internal interface IBenchConsole
{
    /// <summary>Says what is going on; the next such line may take its place.</summary>
    void Progress(string text);

    /// <summary>Writes a line that stays.</summary>
    void Note(string text);
}
