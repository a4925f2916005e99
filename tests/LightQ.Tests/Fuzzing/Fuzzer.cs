using System.Diagnostics;
using LightQ.Broker;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Tests.Fuzzing;

/// <summary>
/// Feeds a target and watches it: only its refusals may come out, in time, and within its allocation.
/// </summary>
internal sealed class Fuzzer
{
    private const int MostFaults = 10;
    private const int Repeats = 3;
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Suspicious = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan Hang = TimeSpan.FromSeconds(30);

    private readonly FuzzTarget _target;
    private readonly IReadOnlyList<byte[]> _found;
    private readonly FuzzInput _input;
    private readonly int _seed;
    private readonly HashSet<string> _problems = [];
    private long _startedAt;
    private long _running;
    private volatile bool _isOver;

    /// <param name="target">The target.</param>
    /// <param name="found">Inputs that were faults once; fed as they are, and mutated like the seeds.</param>
    /// <param name="seed">What every input follows from.</param>
    public Fuzzer(FuzzTarget target, IReadOnlyList<byte[]> found, int seed)
    {
        (_target, _found, _seed) = (target, found, seed);
        _input = new FuzzInput(target, [.. target.Seeds, .. found]);
    }

    /// <summary>The figures so far.</summary>
    public FuzzFigures Figures { get; } = new();

    /// <summary>What went wrong, once for each kind.</summary>
    public List<FuzzFault> Faults { get; } = [];

    /// <summary>
    /// Feeds seeds and found inputs as they are, then as many mutations as are asked for; ends early after ten kinds of
    /// fault, or one that does not end.
    /// </summary>
    /// <param name="executions">How many mutations.</param>
    /// <param name="limit">After how long it ends with those fed until then; null for never.</param>
    /// <param name="progress">Called with the figures every half minute.</param>
    public void Run(long executions, TimeSpan? limit = null, Action<FuzzFigures>? progress = null)
    {
        var worker = new Thread(() => Feed(executions)) { IsBackground = true, Name = $"fuzz {_target.Name}" };
        long started = Stopwatch.GetTimestamp();
        worker.Start();
        while (!worker.Join(TimeSpan.FromSeconds(1)))
        {
            Figures.Elapsed = Stopwatch.GetElapsedTime(started);
            _isOver |= Figures.Elapsed >= limit;
            if ((int)Figures.Elapsed.TotalSeconds % 30 == 0)
                progress?.Invoke(Figures);
            long startedAt = Volatile.Read(ref _startedAt);
            if (startedAt == 0 || Stopwatch.GetElapsedTime(startedAt) < Hang)
                continue;
            Faults.Add(
                new FuzzFault(
                    _running,
                    $"did not end within {Hang.TotalSeconds} s",
                    [.. _input.Make(new FuzzRandom(_seed, _running))]
                )
            );
            return;
        }
        Figures.Elapsed = Stopwatch.GetElapsedTime(started);
    }

    private void Feed(long executions)
    {
        foreach (byte[] seed in _target.Seeds)
            Require(seed);
        foreach (byte[] input in _found)
            Execute(input, -1);
        for (long i = 0; i < executions && Faults.Count < MostFaults && !_isOver; i++)
            Execute(_input.Make(new FuzzRandom(_seed, i)), i);
        _target.Close?.Invoke();
    }

    /// <summary>A seed is valid, or the mutations begin with nothing.</summary>
    private void Require(byte[] seed)
    {
        if (seed.Length > _target.MaxLength)
        {
            Faults.Add(
                new FuzzFault(-1, $"a seed has {seed.Length} bytes and inputs at most {_target.MaxLength}", seed)
            );
        }

        if (!Execute(seed, -1))
            Faults.Add(new FuzzFault(-1, "a seed is refused", seed));
    }

    private bool Execute(ReadOnlySpan<byte> input, long execution)
    {
        Volatile.Write(ref _running, execution);
        string? problem = Try(
            input,
            out bool accepted,
            out (Type, int)? refusal,
            out long allocated,
            out TimeSpan elapsed
        );
        Volatile.Write(ref _startedAt, 0);
        Figures.Executions++;
        Figures.Accepted += accepted ? 1 : 0;
        if (refusal is { } kind)
            Figures.Refusals.Add(kind);
        if (problem is not null)
        {
            if (_problems.Add(Kind(problem)))
                Faults.Add(new FuzzFault(execution, problem, Shorten([.. input], Kind(problem))));
            return accepted;
        }
        if (allocated > Figures.LargestAllocation || elapsed > Suspicious)
            Measure(input, execution, allocated, elapsed);
        return accepted;
    }

    private string? Try(
        ReadOnlySpan<byte> input,
        out bool accepted,
        out (Type, int)? refusal,
        out long allocated,
        out TimeSpan elapsed
    )
    {
        (accepted, refusal) = (false, null);
        string? problem = null;
        long before = GC.GetAllocatedBytesForCurrentThread(),
            started = Stopwatch.GetTimestamp();
        Volatile.Write(ref _startedAt, started);
        try
        {
            accepted = _target.Parse(input);
        }
        catch (Exception e) when (_target.Refusals.Contains(e.GetType()))
        {
            refusal = Classify(e);
        }
#pragma warning disable CA1031 // Whatever it is, it is what is looked for.
        catch (Exception e)
#pragma warning restore CA1031
        {
            problem = e.ToString();
        }
        elapsed = Stopwatch.GetElapsedTime(started);
        allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        return problem;
    }

    /// <summary>
    /// Looks again at what took long or allocated much: the first time may be that of a compiler, a collector, or
    /// another process.
    /// </summary>
    private void Measure(ReadOnlySpan<byte> input, long execution, long allocated, TimeSpan elapsed)
    {
        for (int i = 0; i < Repeats; i++)
        {
            Try(input, out _, out _, out long again, out TimeSpan took);
            (allocated, elapsed) = (Math.Min(allocated, again), took < elapsed ? took : elapsed);
        }
        Volatile.Write(ref _startedAt, 0);
        Figures.LargestAllocation = Math.Max(Figures.LargestAllocation, allocated);
        Figures.Longest = elapsed > Figures.Longest ? elapsed : Figures.Longest;
        if (allocated > _target.MaxAllocation && _problems.Add("allocation"))
        {
            Faults.Add(
                new FuzzFault(execution, $"allocates {allocated} bytes; allowed: {_target.MaxAllocation}", [.. input])
            );
        }

        if (elapsed > Longest && _problems.Add("time"))
        {
            Faults.Add(
                new FuzzFault(
                    execution,
                    $"takes {elapsed.TotalMilliseconds:F0} ms; allowed: {Longest.TotalMilliseconds:F0}",
                    [.. input]
                )
            );
        }
    }

    /// <summary>Takes pieces out of an input as long as it fails in the same way.</summary>
    private byte[] Shorten(byte[] input, string kind)
    {
        for (int piece = Math.Max(1, input.Length / 2); piece > 0; piece /= 2)
        {
            for (int at = 0; at + piece <= input.Length; )
            {
                byte[] shorter = [.. input.AsSpan(0, at), .. input.AsSpan(at + piece)];
                if (Try(shorter, out _, out _, out _, out _) is { } problem && Kind(problem) == kind)
                    input = shorter;
                else
                    at += piece;
            }
        }
        return input;
    }

    /// <summary>
    /// An exception's type and where it was thrown: the same for every input that finds the same defect.
    /// </summary>
    private static string Kind(string problem)
    {
        string[] lines = problem.Split('\n');
        string type = lines[0].Split(':')[0];
        string? place = lines.FirstOrDefault(l =>
            l.TrimStart().StartsWith("at LightQ.", StringComparison.Ordinal)
            && !l.Contains(nameof(FuzzInvariantException), StringComparison.Ordinal)
        );
        return type == typeof(FuzzInvariantException).FullName ? lines[0] : type + place;
    }

    private static (Type, int) Classify(Exception refusal) =>
        (
            refusal.GetType(),
            refusal switch
            {
                ProtocolException e => (int)e.Code,
                BrokerException e => (int)e.Code,
                LightQException e => (int)e.Code,
                _ => 0,
            }
        );
}
