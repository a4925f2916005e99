using System.Text.RegularExpressions;
using System.Threading.Channels;
using LightQ.Cli.Top;

namespace LightQ.IntegrationTests.Cli;

/// <summary>A terminal without a window: what is drawn can be looked at, and keys come from the test.</summary>
internal sealed partial class FakeTerminal : ITopTerminal
{
    private readonly Channel<ConsoleKeyInfo> _keys = Channel.CreateUnbounded<ConsoleKeyInfo>();
    private volatile string[] _lines = [];

    public int Width { get; set; } = 80;

    public int Height { get; set; } = 24;

    public bool HasColours { get; init; }

    public ChannelReader<ConsoleKeyInfo> Keys => _keys.Reader;

    /// <summary>The lines of the last drawing, without what is no character.</summary>
    public string[] Lines => _lines;

    /// <summary>Everything that was written.</summary>
    public List<string> Written { get; } = [];

    public void Begin() { }

    public void Write(string text)
    {
        lock (Written)
            Written.Add(text);
        if (text.StartsWith(Ansi.Home, StringComparison.Ordinal))
            _lines = Sequence().Replace(text, "").Split("\r\n");
    }

    public void Press(ConsoleKey key, char character = '\0') =>
        _keys.Writer.TryWrite(new ConsoleKeyInfo(character, key, shift: false, alt: false, control: false));

    public void Press(char character) => Press(ConsoleKey.None, character);

    [GeneratedRegex("\u001b\\[[0-9;?]*[A-Za-z]")]
    private static partial Regex Sequence();
}
