namespace LightQ.Cli.Clusters;

/// <summary>What a run of <c>lightq cluster try</c> under load came to.</summary>
internal sealed record TryView(
    string Engine,
    bool SyncsAlways,
    double Seconds,
    int Kills,
    IReadOnlyList<FaultView> Faults,
    long Acknowledged,
    long Consumed,
    long Lost,
    long Duplicated,
    double LongestSilenceMs
);
