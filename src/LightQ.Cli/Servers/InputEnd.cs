namespace LightQ.Cli.Servers;

/// <summary>
/// The end of standard input, which comes when the program that has started this one ends, however it ends.
/// </summary>
internal static class InputEnd
{
    /// <summary>Calls back once when it comes; what is read before is ignored.</summary>
    public static void Watch(Action ended)
    {
        var thread = new Thread(() =>
        {
            while (Console.In.ReadLine() is not null)
            {
                // The process ignores the lines.
            }
            ended();
        })
        {
            IsBackground = true,
            Name = "parent",
        };
        thread.Start();
    }
}
