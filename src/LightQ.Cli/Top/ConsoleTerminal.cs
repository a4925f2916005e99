using System.Threading.Channels;

namespace LightQ.Cli.Top;

/// <summary>The terminal that the tool runs in.</summary>
internal sealed class ConsoleTerminal : ITopTerminal
{
    private readonly Channel<ConsoleKeyInfo> _keys = Channel.CreateUnbounded<ConsoleKeyInfo>();

    public int Width => Console.WindowWidth;

    public int Height => Console.WindowHeight;

    public bool HasColours { get; } = string.IsNullOrEmpty(Environment.GetEnvironmentVariable("NO_COLOR"));

    public ChannelReader<ConsoleKeyInfo> Keys => _keys.Reader;

    public void Begin()
    {
        if (Console.IsInputRedirected)
            return;
        // A thread that always waits for the next key: between two questions whether there is one, the terminal would
        // show what is typed.
        new Thread(ReadKeys) { IsBackground = true, Name = "LightQ keys" }.Start();
    }

    public void Write(string text) => Console.Out.Write(text);

    private void ReadKeys()
    {
        try
        {
            while (true)
                _keys.Writer.TryWrite(Console.ReadKey(intercept: true));
        }
        catch (InvalidOperationException)
        {
            // The terminal is gone, or its input is at its end.
        }
    }
}
