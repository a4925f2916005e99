using System.Buffers;
using System.Text;

namespace LightQ.Client.Filtering;

/// <summary>Reads a filter's text.</summary>
/// <remarks>
/// <code>
/// or      = and { "or" and }
/// and     = not { "and" not }
/// not     = "not" not | "(" or ")" | "exists" "(" name ")" | name ( "=" | "!=" | "^=" ) 'value'
/// name    = a letter or _, then letters, digits, _ . -     or any text in double quotes
/// value   = any text in single quotes; '' stands for one
/// </code>
/// </remarks>
internal ref struct FilterParser(string text)
{
    private const int MaxLength = 4096;
    private const int MaxTests = 256;
    private const int MaxDepth = 64;

    private static readonly SearchValues<char> NameChars = SearchValues.Create(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
    );
    private int _at;
    private int _tests;
    private int _depth;

    public FilterNode Parse()
    {
        if (text.Length > MaxLength)
            throw Wrong(MaxLength, $"has {text.Length} characters, and at most {MaxLength} are allowed");
        FilterNode node = ParseOr();
        SkipBlanks();
        return _at == text.Length ? node : throw Expected("and, or, or the end");
    }

    private FilterNode ParseOr()
    {
        FilterNode left = ParseAnd();
        while (TryTakeWord("or"))
            left = new FilterNode.Or(left, ParseAnd());
        return left;
    }

    private FilterNode ParseAnd()
    {
        FilterNode left = ParseNot();
        while (TryTakeWord("and"))
            left = new FilterNode.And(left, ParseNot());
        return left;
    }

    private FilterNode ParseNot()
    {
        if (++_depth > MaxDepth)
            throw Wrong(_at, $"is nested more than {MaxDepth} deep");
        FilterNode node;
        if (TryTakeWord("not"))
        {
            node = new FilterNode.Not(ParseNot());
        }
        else if (TryTake("("))
        {
            node = ParseOr();
            Take(")");
        }
        else
        {
            node = ParseTest();
        }
        _depth--;
        return node;
    }

    private FilterNode ParseTest()
    {
        if (++_tests > MaxTests)
            throw Wrong(_at, $"has more than {MaxTests} conditions");
        if (TryTakeWord("exists"))
        {
            Take("(");
            string wanted = TakeName();
            Take(")");
            return new FilterNode.Test(FilterOperator.Exists, wanted, "");
        }
        string name = TakeName();
        if (TryTake("="))
            return new FilterNode.Test(FilterOperator.Equal, name, TakeValue());
        if (TryTake("!="))
            return new FilterNode.Not(new FilterNode.Test(FilterOperator.Equal, name, TakeValue()));
        if (TryTake("^="))
            return new FilterNode.Test(FilterOperator.Prefix, name, TakeValue());
        throw Expected("=, != or ^=");
    }

    private string TakeName()
    {
        SkipBlanks();
        int start = _at;
        string name;
        if (_at < text.Length && text[_at] == '"')
        {
            name = TakeQuoted('"');
        }
        else
        {
            if (_at == text.Length || !(char.IsAsciiLetter(text[_at]) || text[_at] == '_'))
                throw Expected("a header's name, not, exists or (");
            name = WordAt();
            _at += name.Length;
        }
        return name.Length > 0 && Encoding.UTF8.GetByteCount(name) <= byte.MaxValue
            ? name
            : throw Wrong(
                start,
                $"names a header with {Encoding.UTF8.GetByteCount(name)} bytes; a name has 1 to {byte.MaxValue}"
            );
    }

    private string TakeValue()
    {
        SkipBlanks();
        return _at < text.Length && text[_at] == '\'' ? TakeQuoted('\'') : throw Expected("a value in single quotes");
    }

    private string TakeQuoted(char quote)
    {
        int start = _at++;
        var value = new StringBuilder();
        while (true)
        {
            int end = text.IndexOf(quote, _at);
            if (end < 0)
                throw Wrong(start, "has a quote that is not closed");
            value.Append(text, _at, end - _at);
            _at = end + 1;
            if (_at == text.Length || text[_at] != quote)
                return value.ToString();
            value.Append(quote);
            _at++;
        }
    }

    private bool TryTakeWord(string word)
    {
        SkipBlanks();
        if (!WordAt().Equals(word, StringComparison.OrdinalIgnoreCase))
            return false;
        _at += word.Length;
        return true;
    }

    private readonly string WordAt()
    {
        ReadOnlySpan<char> left = text.AsSpan(_at);
        int length = left.IndexOfAnyExcept(NameChars);
        return (length < 0 ? left : left[..length]).ToString();
    }

    private bool TryTake(string symbol)
    {
        SkipBlanks();
        if (!text.AsSpan(_at).StartsWith(symbol, StringComparison.Ordinal))
            return false;
        _at += symbol.Length;
        return true;
    }

    private void Take(string symbol)
    {
        if (!TryTake(symbol))
            throw Expected(symbol);
    }

    private void SkipBlanks()
    {
        while (_at < text.Length && char.IsWhiteSpace(text[_at]))
            _at++;
    }

    private readonly LightQException Expected(string what) =>
        Wrong(
            _at,
            _at == text.Length ? $"ends where {what} is expected" : $"has '{text[_at]}' where {what} is expected"
        );

    private static LightQException Wrong(int position, string problem) =>
        new(ErrorCode.InvalidArgument, $"The filter {problem}, at position {position + 1}.");
}
