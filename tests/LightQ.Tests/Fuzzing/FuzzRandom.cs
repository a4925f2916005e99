namespace LightQ.Tests.Fuzzing;

/// <summary>
/// A small generator (SplitMix64), made anew for every execution: any execution repeats without those before it.
/// </summary>
internal struct FuzzRandom
{
    private ulong _state;

    public FuzzRandom(int seed, long execution) =>
        _state = ((ulong)(uint)seed << 32) ^ ((ulong)execution * 0xD1342543DE82EF95);

    public ulong Next()
    {
        ulong z = _state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    /// <summary>From 0 up to, and without, <paramref name="limit"/>; 0 for a limit of 0.</summary>
    public int Below(int limit) => (int)Math.BigMul(Next(), (ulong)limit, out _);
}
