namespace LightQ.Bench.Scale;

/// <summary>What people type and read for a dimension.</summary>
internal static class ScaleDimensionWords
{
    public static string Word(this ScaleDimension dimension) => dimension.ToString().ToLowerInvariant();
}
