using LightQ.Client;

namespace LightQ.Cli.Top;

/// <summary>A view of rows of one kind.</summary>
internal abstract class TopList<T>(string name, string usualSort, params TopColumn<T>[] columns) : TopView
{
    private IReadOnlyList<T> _rows = [];
    private int? _most;

    public sealed override string Name => name;

    public sealed override IReadOnlyList<string> Columns { get; } = [.. columns.Select(c => c.Name)];

    public sealed override string UsualSort => usualSort;

    public sealed override int Count => _rows.Count;

    public sealed override bool IsPartial => Count == _most;

    /// <summary>Whether the broker's own order is the one that is wanted, so that the first rows are enough.</summary>
    protected virtual bool IsOrderOfBroker(TopOrder order) => false;

    public sealed override async Task ReadAsync(
        LightQClient client,
        TopOrder order,
        int? rows,
        CancellationToken cancellationToken
    )
    {
        int? most = IsOrderOfBroker(order) ? rows : null;
        _rows = await FetchAsync(client, most, cancellationToken);
        _most = most;
    }

    public sealed override IReadOnlyList<TopCell[]> Take(TopOrder order, int skip, int count) =>
        [.. Sorted(order, skip, count).Select(row => Array.ConvertAll(columns, c => c.Cell(row)))];

    public sealed override TopReport Report(TopOrder order, int count) => ReportOf([.. Sorted(order, 0, count)]);

    /// <summary>Asks the broker.</summary>
    /// <param name="client">Who asks it.</param>
    /// <param name="most">How many in the broker's order are enough; null for all.</param>
    /// <param name="cancellationToken">Gives up.</param>
    protected abstract Task<IReadOnlyList<T>> FetchAsync(
        LightQClient client,
        int? most,
        CancellationToken cancellationToken
    );

    /// <summary>The rows for programs.</summary>
    protected abstract TopReport ReportOf(T[] rows);

    private IEnumerable<T> Sorted(TopOrder order, int skip, int count)
    {
        Func<T, TopCell> cell = Array.Find(columns, c => c.Name == order.Column)!.Cell;
        // Rows with the same value stay in the broker's order, by name.
        var comparer = Comparer<TopCell>.Create(
            order.IsReversed ? static (a, b) => TopCell.Compare(b, a) : TopCell.Compare
        );
        return _rows.OrderBy(cell, comparer).Skip(skip).Take(count);
    }
}
