namespace LightQ.Bench.InProcess;

/// <summary>The targets as the command line and the reports call them.</summary>
internal static class InProcessTargetWords
{
    private static readonly (InProcessTarget Target, string Word)[] Words =
    [
        (InProcessTarget.Ring, "ring"),
        (InProcessTarget.RingMulti, "ring-multi"),
        (InProcessTarget.FileRing, "file-ring"),
        (InProcessTarget.Journal, "journal"),
    ];

    /// <summary>All of them, in the order of the help.</summary>
    public static IEnumerable<string> All => Words.Select(w => w.Word);

    public static string Word(this InProcessTarget target) => Words.First(w => w.Target == target).Word;

    public static bool TryParse(string word, out InProcessTarget target)
    {
        int index = Array.FindIndex(Words, w => w.Word.Equals(word, StringComparison.OrdinalIgnoreCase));
        target = index < 0 ? default : Words[index].Target;
        return index >= 0;
    }

    /// <summary>Whether another process can have its other end.</summary>
    public static bool IsShareable(this InProcessTarget target) =>
        target is InProcessTarget.FileRing or InProcessTarget.Journal;
}
