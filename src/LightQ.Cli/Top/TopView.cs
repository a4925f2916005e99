using LightQ.Client;

namespace LightQ.Cli.Top;

/// <summary>One of the tables, with what was read of it last.</summary>
/// <remarks>A reading may be under way while rows are taken: these are those of the reading before.</remarks>
internal abstract class TopView
{
    /// <summary>What <c>--view</c> calls it.</summary>
    public abstract string Name { get; }

    /// <summary>The columns, the most important first.</summary>
    public abstract IReadOnlyList<string> Columns { get; }

    /// <summary>The column by which it is sorted unless another one is asked for.</summary>
    public abstract string UsualSort { get; }

    /// <summary>Whether something in it is measured between two readings.</summary>
    public virtual bool HasRates => false;

    /// <summary>How many rows were read.</summary>
    public abstract int Count { get; }

    /// <summary>Whether there may be more than were read.</summary>
    public abstract bool IsPartial { get; }

    /// <summary>What is to be said above the table; null for nothing.</summary>
    public virtual string? Note => null;

    /// <summary>Every view, in the order of its keys.</summary>
    public static TopView[] All() =>
        [
            new TopicsView(),
            new GroupsView(),
            new ConnectionsView(),
            new SubscribersView(),
            new NodesView(),
            new PartitionsView(),
        ];

    /// <summary>Asks the broker.</summary>
    /// <param name="client">Who asks it.</param>
    /// <param name="order">What comes first.</param>
    /// <param name="rows">How many of the first rows are wanted; null for all.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public abstract Task ReadAsync(LightQClient client, TopOrder order, int? rows, CancellationToken cancellationToken);

    /// <summary>Some of the rows.</summary>
    /// <param name="order">What comes first.</param>
    /// <param name="skip">How many of the first are left out.</param>
    /// <param name="count">How many at most.</param>
    public abstract IReadOnlyList<TopCell[]> Take(TopOrder order, int skip, int count);

    /// <summary>The same for programs.</summary>
    public abstract TopReport Report(TopOrder order, int count);
}
