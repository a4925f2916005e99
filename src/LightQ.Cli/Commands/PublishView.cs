namespace LightQ.Cli.Commands;

/// <summary>What <c>pub</c> published.</summary>
internal sealed record PublishView(string Topic, long Messages, long Bytes, double Seconds);
