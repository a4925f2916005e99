using System.Text;

namespace LightQ.ClusterTests.Model;

/// <summary>
/// Every state within the bounds, those of fewer steps first; so the trace of a violation is one of the shortest.
/// </summary>
internal sealed class Search
{
    private readonly Machine _machine;
    private readonly World _start;
    private readonly bool _isStrict;
    private readonly Dictionary<UInt128, int> _seen = [];

    /// <summary>By state: the one before it, and the step that led to it.</summary>
    private readonly List<(int Before, Step Step)> _ways = [];

    private Search(Bounds bounds, Dropped dropped)
    {
        _machine = new Machine(bounds, dropped);
        _start = World.Start(bounds);
        // Without a rule an owner's view goes wrong first; what is wanted there is what becomes of it.
        _isStrict = dropped is Dropped.Nothing;
    }

    public int States => _ways.Count;

    public long Steps { get; private set; }

    public Reached Reached { get; private set; }

    public Violation Violation { get; private set; }

    /// <summary>The steps to the violation, a line each.</summary>
    public string Trace { get; private set; } = "";

    /// <summary>Ends when all is seen, or with the first violation.</summary>
    public static Search Run(Bounds bounds, Dropped dropped = Dropped.Nothing)
    {
        var search = new Search(bounds, dropped);
        search.Run();
        return search;
    }

    private void Run()
    {
        var open = new Queue<(World World, int Number)>();
        _seen.Add(_start.Key(), 0);
        _ways.Add((-1, default));
        open.Enqueue((_start, 0));
        var steps = new List<Step>();
        while (open.TryDequeue(out (World World, int Number) state))
        {
            _machine.Enabled(state.World, steps);
            foreach (Step step in steps)
            {
                Steps++;
                Outcome outcome = _machine.Take(state.World, step);
                Reached |= outcome.Reached;
                bool isViolated =
                    outcome.Violation is not Violation.None
                    && (_isStrict || outcome.Violation is not Violation.WrongView);
                if (!isViolated && !_seen.TryAdd(outcome.World.Key(), _ways.Count))
                    continue;
                _ways.Add((state.Number, step));
                if (isViolated)
                {
                    Violation = outcome.Violation;
                    Trace = Describe(_ways.Count - 1);
                    return;
                }

                open.Enqueue((outcome.World, _ways.Count - 1));
            }
        }
    }

    private string Describe(int last)
    {
        var way = new Stack<Step>();
        for (int number = last; number > 0; number = _ways[number].Before)
            way.Push(_ways[number].Step);
        var text = new StringBuilder();
        World world = _start;
        text.Append("1. A is the owner, its claim of epoch 1 is stored as 1\n");
        int line = 2;
        foreach (Step step in way)
        {
            World after = _machine.Take(world, step).World;
            text.Append(line++).Append(". ").Append(step.Describe(world, after)).Append('\n');
            world = after;
        }

        return text.Append("=> ").Append(Violation).ToString();
    }
}
