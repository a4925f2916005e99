namespace LightQ.Cli.Topics;

/// <summary>A topic that was given replicas.</summary>
internal sealed record ReplicateView(string Topic, int Replicas);
