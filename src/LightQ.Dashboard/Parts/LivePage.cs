using LightQ.Dashboard.Api;
using LightQ.Dashboard.Live;
using Microsoft.AspNetCore.Components;
using MudBlazor;

namespace LightQ.Dashboard.Parts;

/// <summary>A page that reads its figures again and again while it is open.</summary>
public abstract class LivePage : ComponentBase, IDisposable
{
    private const int ManyRows = 1000;

    private readonly CancellationTokenSource _closed = new();
    private Task _reading = Task.CompletedTask;
    private string? _key;

    /// <summary>Whether the first reading is there.</summary>
    protected bool IsLoaded { get; private set; }

    /// <summary>Why the last reading failed; empty when it did not.</summary>
    protected string Problem { get; private set; } = "";

    /// <summary>Between two readings: thousands of rows are read less often.</summary>
    protected virtual TimeSpan Interval => Rows > ManyRows ? 5 * BrokerFeed.Interval : BrokerFeed.Interval;

    /// <summary>How many rows a reading has.</summary>
    protected virtual int Rows => 0;

    /// <summary>What the page is of; when it changes, the page begins anew.</summary>
    protected virtual string Key => "";

    [Inject]
    internal BrokerApi Api { get; set; } = null!;

    [Inject]
    internal Session Session { get; set; } = null!;

    [Inject]
    internal BrokerFeed Feed { get; set; } = null!;

    [Inject]
    protected ISnackbar Snackbar { get; set; } = null!;

    [Inject]
    protected IDialogService Dialogs { get; set; } = null!;

    [Inject]
    protected NavigationManager Navigation { get; set; } = null!;

    public void Dispose()
    {
        Feed.Changed -= OnFeed;
        Feed.Follow(this, []);
        _closed.Cancel();
        _closed.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>Reads what the page shows.</summary>
    protected abstract Task LoadAsync(CancellationToken cancellation);

    /// <summary>Forgets what was shown of something else.</summary>
    protected virtual void Clear() { }

    /// <summary>The broker has sent figures.</summary>
    protected virtual void OnPushed() { }

    protected override void OnInitialized()
    {
        Feed.Changed += OnFeed;
        _ = RunAsync();
    }

    protected override async Task OnParametersSetAsync()
    {
        if (_key is not null && _key != Key)
        {
            IsLoaded = false;
            Clear();
            await RefreshAsync();
        }

        _key = Key;
    }

    /// <summary>Reads at once.</summary>
    protected async Task RefreshAsync()
    {
        // What is under way may have asked before the change that this is about.
        await _reading;
        _reading = ReadAsync();
        await _reading;
    }

    /// <summary>Does something at the broker, and says what came of it.</summary>
    /// <returns>Whether it was done.</returns>
    protected Task<bool> DoAsync(Func<Task> action, string done) => DoAsync(action, () => done);

    /// <summary>As <see cref="DoAsync(Func{Task}, string)"/>, with what is known only when it is done.</summary>
    protected async Task<bool> DoAsync(Func<Task> action, Func<string> done)
    {
        try
        {
            await action();
            if (done() is { Length: > 0 } text)
                Snackbar.Add(text, Severity.Success);
            await RefreshAsync();
            return true;
        }
        catch (Exception e) when (Failure.IsOfCall(e))
        {
            Snackbar.Add(Failure.TextOf(e), Severity.Error);
            return false;
        }
    }

    private void OnFeed() =>
        _ = InvokeAsync(() =>
        {
            OnPushed();
            StateHasChanged();
        });

    private async Task RunAsync()
    {
        CancellationToken closed = _closed.Token;
        while (!closed.IsCancellationRequested)
        {
            if (!IsLoaded || !Feed.IsStill)
                await RefreshAsync();
            try
            {
                await Task.Delay(Interval, closed);
            }
            catch (OperationCanceledException)
            {
                return;
            }
        }
    }

    private async Task ReadAsync()
    {
        string key = Key;
        try
        {
            await Api.RenewAsync(_closed.Token);
            await LoadAsync(_closed.Token);
            if (key != Key)
                return;
            (Problem, IsLoaded) = ("", true);
        }
        catch (Exception e) when (Failure.IsOfCall(e) || e is ObjectDisposedException)
        {
            if (e is ObjectDisposedException || _closed.IsCancellationRequested)
                return;
            if (Failure.IsLogin(e))
                await Session.EndAsync(Failure.TextOf(e));
            Problem = Failure.TextOf(e);
        }

        await InvokeAsync(StateHasChanged);
    }
}
