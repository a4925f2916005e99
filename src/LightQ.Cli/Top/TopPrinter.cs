using System.Text;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Top;

/// <summary>The tables one after the other, for scripts, files and pipes.</summary>
internal sealed class TopPrinter(BrokerCall call, TopSettings settings)
{
    private readonly TopView _view = Array.Find(TopView.All(), v => v.Name == settings.View)!;

    private TopOrder Order => new(settings.Sort ?? _view.UsualSort, settings.IsReversed);

    /// <summary>Prints one table, or one after the other until Ctrl-C.</summary>
    public async Task RunAsync(bool isOnce)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(call.Cancellation, StandardOutput.Closed);
        try
        {
            if (_view.HasRates && settings.Interval > TimeSpan.Zero)
            {
                await ReadAsync(ended.Token);
                await Task.Delay(settings.Interval, ended.Token);
            }
            await ReadAsync(ended.Token);
            Print();
            while (!isOnce)
            {
                await Task.Delay(settings.Interval, ended.Token);
                if (await TryReadAsync(ended.Token))
                    Print();
            }
        }
        catch (OperationCanceledException) when (StandardOutput.Closed.IsCancellationRequested)
        {
            throw new OutputClosedException();
        }
        catch (OperationCanceledException) when (!isOnce && call.Cancellation.IsCancellationRequested)
        {
            // Ctrl-C is how it ends.
        }
    }

    private Task ReadAsync(CancellationToken cancellationToken) =>
        TopReading.TakeAsync(token => _view.ReadAsync(call.Client, Order, settings.Most, token), cancellationToken);

    private async Task<bool> TryReadAsync(CancellationToken cancellationToken)
    {
        try
        {
            await ReadAsync(cancellationToken);
            return true;
        }
        catch (LightQException e) when (e.IsTransient)
        {
            Console.Error.WriteLine($"lightq: {Failure.OneLine(e.Message)} Trying again.");
            return false;
        }
    }

    private void Print()
    {
        int count = settings.Most ?? int.MaxValue;
        if (call.IsJson)
        {
            CommandConsole.Line(JsonSerializer.Serialize(_view.Report(Order, count), TopJson.Default.TopReport));
            return;
        }
        var text = new StringBuilder();
        if (_view.Note is { } note)
            text.Append("# ").Append(note).Append('\n');
        foreach (string line in TopTable.Plain(_view.Columns, _view.Take(Order, 0, count)))
            text.Append(line).Append('\n');
        Console.Out.Write(text);
    }
}
