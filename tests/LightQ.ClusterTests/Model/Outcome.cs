namespace LightQ.ClusterTests.Model;

/// <summary>What came of a step.</summary>
internal readonly record struct Outcome(World World, Reached Reached = default, Violation Violation = default);
