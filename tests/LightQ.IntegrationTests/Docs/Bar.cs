namespace LightQ.IntegrationTests.Docs;

/// <summary>A bar of a chart: what it stands for, how long it is, and the figure at its end.</summary>
internal sealed record Bar(string Name, double Value, string Text, bool IsOurs);
