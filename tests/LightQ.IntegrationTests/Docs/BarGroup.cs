namespace LightQ.IntegrationTests.Docs;

/// <summary>Bars that belong together, such as those of one message size.</summary>
internal sealed record BarGroup(string Name, IReadOnlyList<Bar> Bars);
