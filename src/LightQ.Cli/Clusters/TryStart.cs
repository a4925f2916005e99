namespace LightQ.Cli.Clusters;

/// <summary>A cluster to try that is up.</summary>
internal sealed record TryStart(string ConnectionString, string Engine, bool SyncsAlways, string Folder);
