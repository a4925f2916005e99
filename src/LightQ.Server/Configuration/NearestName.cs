namespace LightQ.Server.Configuration;

/// <summary>Guesses which name was meant.</summary>
internal static class NearestName
{
    private const int MostMistakes = 3;
    private const int LeastPart = 3;

    /// <summary>
    /// The name with the fewest differences, or null when none is near. A name without its section counts as near, and
    /// so does one that was not typed to its end, or beyond it, as <c>publish</c> for <c>pub</c>.
    /// </summary>
    public static string? Find(string typed, IEnumerable<string> names)
    {
        (string Name, int Mistakes)[] ranked = [.. names.Select(n => (n, Mistakes(typed, n))).OrderBy(n => n.Item2)];
        return ranked.Length != 0 && ranked[0].Mistakes <= Math.Min(MostMistakes, (typed.Length + 1) / 2)
            ? ranked[0].Name
            : null;
    }

    private static int Mistakes(string typed, string name)
    {
        int whole = Math.Min(Distance(typed, name), Distance(typed, name[(name.LastIndexOf(':') + 1)..]));
        bool isPart =
            name.StartsWith(typed, StringComparison.OrdinalIgnoreCase)
            || (name.Length >= LeastPart && typed.StartsWith(name, StringComparison.OrdinalIgnoreCase));
        return isPart ? Math.Min(whole, 1) : whole;
    }

    /// <summary>Levenshtein's distance without case: characters to insert, remove or replace.</summary>
    /// <returns>More than <see cref="MostMistakes"/> where the lengths alone say so.</returns>
    private static int Distance(string a, string b)
    {
        if (Math.Abs(a.Length - b.Length) > MostMistakes)
            return MostMistakes + 1;
        int[] row = [.. Enumerable.Range(0, b.Length + 1)];
        for (int i = 1; i <= a.Length; i++)
        {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.Length; j++)
            {
                int replace = diagonal + (char.ToUpperInvariant(a[i - 1]) == char.ToUpperInvariant(b[j - 1]) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.Min(replace, Math.Min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.Length];
    }
}
