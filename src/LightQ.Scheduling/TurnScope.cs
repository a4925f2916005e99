namespace LightQ.Scheduling;

/// <summary>
/// Run to completion: what a thread posts inside a scope it runs itself when the scope ends; a few items, then the rest
/// go to the pool.
/// </summary>
/// <remarks>
/// The hop to another thread costs more than the work of one delivery (a third of the median latency), but a fan-out to
/// a thousand subscribers must not hold a socket thread. Outside any scope items go straight to the pool. A scope
/// inside a scope does nothing.
/// </remarks>
public readonly struct TurnScope : IDisposable
{
    private const int OwnItems = 16;

    [ThreadStatic]
    private static Queue<WorkItem>? _items;

    [ThreadStatic]
    private static bool _inScope;

    private readonly int _limit;

    private TurnScope(int limit) => _limit = limit;

    /// <summary>Opens a scope on this thread.</summary>
    /// <param name="limit">How many posted items this thread runs itself at the end.</param>
    public static TurnScope Enter(int limit = OwnItems)
    {
        if (_inScope)
            return default;
        _inScope = true;
        _items ??= new Queue<WorkItem>();
        return new TurnScope(limit);
    }

    /// <summary>Runs <paramref name="item"/> soon: at the end of this thread's scope, or on the pool.</summary>
    public static void Post(WorkItem item)
    {
        if (_inScope)
            _items!.Enqueue(item);
        else
            ThreadPool.UnsafeQueueUserWorkItem(item, preferLocal: false);
    }

    /// <summary>Runs what was posted.</summary>
    public void Dispose()
    {
        if (_limit == 0)
            return;
        Queue<WorkItem> items = _items!;
        try
        {
            for (int i = 0; i < _limit && items.TryDequeue(out WorkItem? item); i++)
                item.Run();
        }
        finally
        {
            _inScope = false;
            while (items.TryDequeue(out WorkItem? item))
                ThreadPool.UnsafeQueueUserWorkItem(item, preferLocal: false);
        }
    }
}
