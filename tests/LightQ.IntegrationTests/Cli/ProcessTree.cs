using System.Diagnostics;
using System.Globalization;

namespace LightQ.IntegrationTests.Cli;

/// <summary>The processes that a process has started, as <c>/proc</c> shows them.</summary>
internal static class ProcessTree
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>Waits until a process has so many children.</summary>
    public static async Task<int[]> ChildrenOfAsync(Process parent, int count)
    {
        int[] children = [];
        await Eventually.TrueAsync(
            () => (children = ChildrenOf(parent.Id)).Length == count,
            Patience,
            () => $"There are {children.Length} processes."
        );
        return children;
    }

    /// <summary>Waits until processes have ended. An orphan that nobody has collected yet has ended, too.</summary>
    public static Task EndedAsync(params int[] processes) =>
        Eventually.TrueAsync(() => !processes.Any(IsRunning), Patience, () => "A process is still there.");

    // A child belongs to the thread that started it, and threads come and go meanwhile.
    private static int[] ChildrenOf(int id) =>
        [
            .. Directory
                .EnumerateDirectories($"/proc/{id}/task")
                .Select(task => ReadIfThere(Path.Combine(task, "children")))
                .SelectMany(children => children.Split(' ', StringSplitOptions.RemoveEmptyEntries))
                .Select(c => int.Parse(c, CultureInfo.InvariantCulture)),
        ];

    private static bool IsRunning(int id)
    {
        string stat = ReadIfThere($"/proc/{id}/stat");
        return stat.Length > 0 && stat[stat.LastIndexOf(')') + 2] != 'Z';
    }

    // What a process or thread shows of itself is gone as soon as it ends, even between opening and reading.
    private static string ReadIfThere(string path)
    {
        try
        {
            return File.ReadAllText(path);
        }
        catch (IOException)
        {
            return "";
        }
    }
}
