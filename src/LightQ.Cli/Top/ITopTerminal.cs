using System.Threading.Channels;

namespace LightQ.Cli.Top;

/// <summary>Where the live table is drawn, and which keys are pressed.</summary>
internal interface ITopTerminal
{
    /// <summary>Characters in a line, now.</summary>
    int Width { get; }

    /// <summary>Lines, now.</summary>
    int Height { get; }

    /// <summary>Whether marks may be colours.</summary>
    bool HasColours { get; }

    /// <summary>The keys that are pressed.</summary>
    ChannelReader<ConsoleKeyInfo> Keys { get; }

    /// <summary>Begins to read keys.</summary>
    void Begin();

    /// <summary>Writes at once.</summary>
    void Write(string text);
}
