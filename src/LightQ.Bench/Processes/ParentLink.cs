namespace LightQ.Bench.Processes;

/// <summary>A child's tie to its parent: standard input ends when the parent does, however it ends.</summary>
internal static class ParentLink
{
    /// <summary>Calls back once when standard input ends; what comes through it is ignored.</summary>
    public static void OnEnd(Action ended) => Read(_ => { }, ended);

    /// <summary>Hands every line of standard input over, on a thread of its own, and calls back when it ends.</summary>
    public static void Read(Action<string> line, Action ended)
    {
        var thread = new Thread(() =>
        {
            while (Console.In.ReadLine() is { } text)
                line(text);
            ended();
        })
        {
            IsBackground = true,
            Name = "parent",
        };
        thread.Start();
    }
}
