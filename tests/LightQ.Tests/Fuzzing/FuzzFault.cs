namespace LightQ.Tests.Fuzzing;

/// <summary>An input that a parser did not answer as it must.</summary>
/// <param name="Execution">Which execution of the seed it was; -1 for a found input that is kept.</param>
/// <param name="Problem">What happened.</param>
/// <param name="Input">The shortest input found that does the same.</param>
internal sealed record FuzzFault(long Execution, string Problem, byte[] Input)
{
    public override string ToString() =>
        $"execution {Execution}: {Problem}\ninput ({Input.Length} bytes, base64): {Convert.ToBase64String(Input)}";
}
