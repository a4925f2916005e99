using System.Diagnostics;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Backups;

/// <summary>Says on standard error what is going on, once a second at most.</summary>
internal sealed class BackupProgress(CommandConsole console)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private long _saidAt = Stopwatch.GetTimestamp();

    /// <summary>So much has come.</summary>
    public void Received(long bytes, long ofAbout) =>
        Say($"{SizeText.Short(bytes)} of about {SizeText.Short(Math.Max(bytes, ofAbout))}");

    /// <summary>A file or a topic is being read.</summary>
    public void Verifying(string what) => Say($"Verifying {what}");

    /// <summary>A file is being read or copied.</summary>
    public void Restoring(string what) => Say($"Restoring: {what}");

    private void Say(string text)
    {
        if (Stopwatch.GetElapsedTime(_saidAt) < Interval)
            return;
        _saidAt = Stopwatch.GetTimestamp();
        console.Progress(text);
    }
}
