using LightQ.Client.Filtering;
using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>
/// Decides by a message's headers whether a consumer wants it. Immutable and thread-safe; matching a message allocates
/// nothing.
/// </summary>
/// <remarks>
/// <para>
/// <c>name = 'value'</c>, <c>name != 'value'</c>, <c>name ^= 'prefix'</c> and <c>exists(name)</c>, joined by
/// <c>and</c>, <c>or</c>, <c>not</c> and parentheses; <c>not</c> binds closer than <c>and</c>, <c>and</c> closer than
/// <c>or</c>. A name is a letter or <c>_</c> and then letters, digits and <c>_.-</c>, or any text in double quotes; a
/// value is any text in single quotes; a doubled quote stands for one. Names and values are compared byte by byte in
/// UTF-8.
/// </para>
/// <para>
/// A message may have a header several times: <c>=</c> and <c>^=</c> hold if one of its values matches. <c>!=</c> is
/// the opposite of <c>=</c>, so it also holds for a message without the header. A message whose headers are damaged
/// counts as wanted: reading its headers shows the damage.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// var filter = MessageFilter.Parse("type = 'order' and (region ^= 'eu' or not exists(region))");
/// await foreach (Message message in client.ConsumeAsync("orders", new() { Filter = filter }))
///     Handle(message);
/// </code>
/// </example>
public sealed class MessageFilter
{
    private readonly string _text;
    private readonly FilterTest[] _tests;
    private readonly int _first;

    private MessageFilter(string text, FilterNode node)
    {
        _text = text;
        var tests = new List<FilterTest>();
        _first = node.Emit(tests, FilterTest.Accept, FilterTest.Refuse);
        _tests = [.. tests];
    }

    /// <summary>Reads a filter.</summary>
    /// <param name="text">At most 4,096 characters, 256 conditions, 64 levels.</param>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.InvalidArgument"/>: the text is not a filter. The error message says what is wrong and at
    /// which position, counted from 1.
    /// </exception>
    public static MessageFilter Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return new MessageFilter(text, new FilterParser(text).Parse());
    }

    /// <summary>Whether a message is wanted.</summary>
    public bool Matches(in RecordView record) => Matches(record.HeaderBytes);

    /// <summary>The text that the filter was made from.</summary>
    public override string ToString() => _text;

    internal bool Matches(ReadOnlySpan<byte> headers)
    {
        try
        {
            int at = _first;
            while (at >= 0)
            {
                FilterTest test = _tests[at];
                at = test.Holds(headers) ? test.OnTrue : test.OnFalse;
            }
            return at == FilterTest.Accept;
        }
        catch (ProtocolException)
        {
            return true;
        }
    }
}
