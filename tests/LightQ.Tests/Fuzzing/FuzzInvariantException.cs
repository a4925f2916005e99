namespace LightQ.Tests.Fuzzing;

/// <summary>A parser accepted an input and contradicts itself about it.</summary>
internal sealed class FuzzInvariantException(string message) : Exception(message)
{
    public static void ThrowUnless(bool holds, string invariant)
    {
        if (!holds)
            throw new FuzzInvariantException(invariant);
    }
}
