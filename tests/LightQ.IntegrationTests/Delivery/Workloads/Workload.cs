using System.Globalization;

namespace LightQ.IntegrationTests.Delivery.Workloads;

/// <summary>One random workload, drawn from a seed.</summary>
internal sealed record Workload
{
    /// <summary>The longest that a long message takes, in locks.</summary>
    private const double MostLocks = 3;

    private static readonly double[] Shares = [0, 0.001, 0.01, 0.05, 0.3];

    private Workload(Random random)
    {
        Lock = TimeSpan.FromMilliseconds(random.Next(1_000, 2_000));
        Partitions = random.Next(3) == 0 ? 4 : 1;
        int count = random.Next(1, 9);
        bool isUniform = random.Next(2) == 0;
        SettleHabit[] habits = Enum.GetValues<SettleHabit>();
        SettleHabit one = habits[random.Next(habits.Length)];
        Habits = [.. Enumerable.Range(0, count).Select(_ => isUniform ? one : habits[random.Next(habits.Length)])];
        Usual = Lock * Shares[random.Next(Shares.Length)];
        IsCalm = random.Next(2) == 0;
        Deaths = IsCalm ? 0 : random.Next(1, 3);
        Pauses = IsCalm ? 0 : random.Next(3);
        LongOnes = IsCalm || !CanTakeLong(one) || !isUniform ? 0 : 0.02;
        // What a member is to have done within the test's patience: 3 s of the usual ones, or 10 s where the few long ones
        // are nearly all of it.
        double each = Math.Max(Usual.TotalSeconds, 0.002) + (LongOnes * MostLocks / 2 * Lock.TotalSeconds);
        Messages = (int)Math.Clamp((LongOnes > 0 ? 10 : 3) * count / each, 30 * count, 1_500);
        // A batch is one member's, and may hold all of them: three times as long must be within the test's patience.
        if (Habits.Contains(SettleHabit.Batches))
            Messages = Math.Min(Messages, Math.Max(20, (int)(15 / each)));
        StartsApart = TimeSpan.FromMilliseconds(random.Next(300));
        Seed = random.Next();
    }

    /// <summary>The lock of a message.</summary>
    public TimeSpan Lock { get; }

    /// <summary>The topic's partitions.</summary>
    public int Partitions { get; }

    /// <summary>How each member settles.</summary>
    public IReadOnlyList<SettleHabit> Habits { get; }

    /// <summary>What a handler takes for most messages.</summary>
    public TimeSpan Usual { get; }

    /// <summary>How many of the messages take up to three locks, with renewals.</summary>
    public double LongOnes { get; }

    /// <summary>How many messages there are.</summary>
    public int Messages { get; }

    /// <summary>Whether nothing happens to the members.</summary>
    public bool IsCalm { get; }

    /// <summary>How many members die.</summary>
    public int Deaths { get; }

    /// <summary>How many times a member stands still for longer than a lock, with a message in hand.</summary>
    public int Pauses { get; }

    /// <summary>The time between the starts of two members.</summary>
    public TimeSpan StartsApart { get; }

    /// <summary>What else is random follows from it.</summary>
    public int Seed { get; }

    /// <summary>Whether its members do equal work, and should have equal shares.</summary>
    public bool IsEqual =>
        IsCalm
        && Partitions == 1
        && Habits.Distinct().Count() == 1
        && Habits[0] is not (SettleHabit.Batches or SettleHabit.Fetch)
        && Usual >= Lock * 0.01
        && Messages >= 40 * Habits.Count;

    public static Workload From(Random random) => new(random);

    /// <summary>What the handler of a message takes.</summary>
    public TimeSpan TimeFor(int partition, long offset)
    {
        var random = new Random(HashCode(partition, offset));
        return random.NextDouble() < LongOnes ? Lock * (MostLocks * random.NextDouble()) : Usual;
    }

    public override string ToString() =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{Messages} messages of {Usual.TotalMilliseconds} ms (long: {LongOnes:P0}), lock {Lock.TotalMilliseconds} ms, "
                + $"{Partitions} partitions, {Deaths} deaths, {Pauses} pauses, members {StartsApart.TotalMilliseconds} ms "
                + $"apart: {string.Join(' ', Habits)}"
        );

    private static bool CanTakeLong(SettleHabit habit) =>
        habit is not (SettleHabit.Batches or SettleHabit.Fetch or SettleHabit.Queue);

    private int HashCode(int partition, long offset) =>
        unchecked((Seed * 31) ^ ((int)offset * 397) ^ (partition << 20));
}
