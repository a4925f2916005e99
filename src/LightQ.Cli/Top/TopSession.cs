using System.Diagnostics;
using LightQ.Client;

namespace LightQ.Cli.Top;

/// <summary>The live table, until it is ended.</summary>
internal sealed class TopSession
{
    // A window that has another size is noticed so soon.
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(200);

    private readonly LightQClient _client;
    private readonly TopSettings _settings;
    private readonly ITopTerminal _terminal;
    private readonly TopScreen _screen;
    private readonly BrokerLine _broker = new();
    private readonly TopView[] _views = TopView.All();
    private readonly Stopwatch _sinceReading = new();
    private TopView _view;
    private TopOrder _order;
    private int _skip;
    private string? _problem;
    private bool _isStale;
    private bool _isEnded;
    private bool _hasLeft;

    public TopSession(LightQClient client, TopSettings settings, ITopTerminal terminal)
    {
        (_client, _settings, _terminal) = (client, settings, terminal);
        _screen = new TopScreen { Server = settings.Server, Most = settings.Most };
        _view = Array.Find(_views, v => v.Name == settings.View)!;
        _order = new TopOrder(settings.Sort ?? _view.UsualSort, settings.IsReversed);
    }

    /// <summary>Shows it until q is pressed or it is cancelled.</summary>
    /// <exception cref="LightQException">The first reading failed: nothing was shown.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        await ReadAsync(_view, cancellationToken);
        // A second Ctrl-C ends the process at once.
        AppDomain.CurrentDomain.ProcessExit += Leave;
        try
        {
            _terminal.Write(Ansi.Enter);
            _terminal.Begin();
            await ShowAsync(cancellationToken);
        }
        finally
        {
            Leave(this, EventArgs.Empty);
            AppDomain.CurrentDomain.ProcessExit -= Leave;
        }
    }

    private void Leave(object? sender, EventArgs e)
    {
        // What is on the first screen by then stays where it is.
        if (!Interlocked.Exchange(ref _hasLeft, true))
            _terminal.Write(Ansi.Leave);
    }

    private async Task ShowAsync(CancellationToken cancellationToken)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task<string?>? reading = null;
        Task<bool> key = _terminal.Keys.WaitToReadAsync(ended.Token).AsTask();
        (int, int) drawnSize = default;
        bool isDrawn = false;
        _sinceReading.Restart();
        try
        {
            while (!_isEnded && !cancellationToken.IsCancellationRequested)
            {
                if (!isDrawn || drawnSize != (_terminal.Width, _terminal.Height))
                {
                    drawnSize = (_terminal.Width, _terminal.Height);
                    _terminal.Write(_screen.Draw(_terminal, _view, _views, _order, _skip, _broker.Text, _problem));
                    isDrawn = true;
                }
                if (reading is null && (_isStale || _sinceReading.Elapsed >= _settings.Interval))
                {
                    _isStale = false;
                    _sinceReading.Restart();
                    reading = TryReadAsync(_view, ended.Token);
                }
                await Task.WhenAny(key, reading ?? Task.Delay(Look, ended.Token), Task.Delay(Look, ended.Token));
                if (reading is { IsCompleted: true })
                {
                    _problem = await reading;
                    (reading, isDrawn) = (null, false);
                    ScrollBack();
                }
                if (key.IsCompletedSuccessfully && key.Result)
                {
                    while (_terminal.Keys.TryRead(out ConsoleKeyInfo pressed))
                        Press(pressed);
                    key = _terminal.Keys.WaitToReadAsync(ended.Token).AsTask();
                    isDrawn = false;
                }
            }
        }
        finally
        {
            await ended.CancelAsync();
            if (reading is not null)
                await reading;
        }
    }

    private Task ReadAsync(TopView view, CancellationToken cancellationToken) =>
        TopReading.TakeAsync(
            token =>
                Task.WhenAll(
                    _broker.ReadAsync(_client, token),
                    view.ReadAsync(_client, _order, _skip + _screen.RowsIn(_terminal.Height), token)
                ),
            cancellationToken
        );

    /// <summary>Reads; what has failed is said on the screen, and tried again at the next reading.</summary>
    private async Task<string?> TryReadAsync(TopView view, CancellationToken cancellationToken)
    {
        try
        {
            await ReadAsync(view, cancellationToken);
            return null;
        }
        catch (LightQException e)
        {
            return e.IsTransient ? $"These figures are old, trying again: {e.Message}" : e.Message;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            return null;
        }
    }

    private void Press(ConsoleKeyInfo key)
    {
        int page = _screen.RowsIn(_terminal.Height);
        switch (key.Key)
        {
            case ConsoleKey.Q or ConsoleKey.Escape:
                _isEnded = true;
                break;
            case ConsoleKey.LeftArrow or ConsoleKey.RightArrow:
                SortBeside(key.Key == ConsoleKey.LeftArrow ? -1 : 1);
                break;
            case ConsoleKey.R:
                _order = _order with { IsReversed = !_order.IsReversed };
                _isStale = true;
                break;
            case ConsoleKey.UpArrow or ConsoleKey.DownArrow:
                Scroll(key.Key == ConsoleKey.UpArrow ? -1 : 1);
                break;
            case ConsoleKey.PageUp or ConsoleKey.PageDown:
                Scroll(key.Key == ConsoleKey.PageUp ? -page : page);
                break;
            case ConsoleKey.Home:
                _skip = 0;
                break;
            default:
                if (key.KeyChar is >= '1' and <= '9' && key.KeyChar - '1' < _views.Length)
                    Open(_views[key.KeyChar - '1']);
                break;
        }
    }

    private void Open(TopView view)
    {
        if (view == _view)
            return;
        _view = view;
        (_order, _skip, _isStale, _problem) = (new TopOrder(view.UsualSort, IsReversed: false), 0, true, null);
    }

    private void SortBeside(int step)
    {
        IReadOnlyList<string> columns = _view.Columns;
        int at = columns.TakeWhile(c => c != _order.Column).Count();
        _order = new TopOrder(columns[(at + step + columns.Count) % columns.Count], IsReversed: false);
        (_skip, _isStale) = (0, true);
    }

    private void Scroll(int rows)
    {
        _skip = Math.Max(0, _skip + rows);
        _isStale = true; // Rows that were not read yet may be wanted now.
    }

    /// <summary>A table that has become shorter, or was scrolled beyond its end, shows its last rows.</summary>
    private void ScrollBack() => _skip = Math.Max(0, Math.Min(_skip, _view.Count - 1));
}
