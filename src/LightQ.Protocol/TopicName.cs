namespace LightQ.Protocol;

/// <summary>
/// The rule for topic, group and producer names: a letter or digit, then up to 199 letters, digits, dots, underscores
/// or hyphens; never "..".
/// </summary>
public static class TopicName
{
    /// <summary>Longest name, in characters (all ASCII).</summary>
    public const int MaxLength = 200;

    /// <summary>Behind the name of the topic whose dead letters a topic gets, if it names no other.</summary>
    public const string DeadLetterSuffix = ".dead";

    /// <summary>What a name must look like, for error messages.</summary>
    public const string Rule =
        "1 to 200 characters: a letter or digit first, then letters, digits, '.', '_' or '-', and no \"..\"";

    /// <summary>Whether <paramref name="name"/> follows the rule. Names are compared case-sensitively.</summary>
    public static bool IsValid(ReadOnlySpan<char> name)
    {
        if (name.Length is 0 or > MaxLength || !char.IsAsciiLetterOrDigit(name[0]))
            return false;
        foreach (char c in name)
        {
            if (!char.IsAsciiLetterOrDigit(c) && c is not ('.' or '_' or '-'))
                return false;
        }
        return !name.Contains("..", StringComparison.Ordinal);
    }

    /// <summary>
    /// The topic that a name belongs to: <c>orders</c> for <c>orders.dead</c>, whether one of them exists or not; else
    /// the name itself.
    /// </summary>
    public static ReadOnlySpan<char> OwnerOf(ReadOnlySpan<char> name)
    {
        while (name.Length > DeadLetterSuffix.Length && name.EndsWith(DeadLetterSuffix, StringComparison.Ordinal))
            name = name[..^DeadLetterSuffix.Length];
        return name;
    }

    /// <summary>
    /// Makes a name from outside, which may break the rule, safe to print: at most 80 characters of ASCII.
    /// </summary>
    public static string Printable(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return string.Concat(name.Take(80).Select(c => char.IsAscii(c) && !char.IsControl(c) ? c : '?'))
            + (name.Length > 80 ? "…" : "");
    }
}
