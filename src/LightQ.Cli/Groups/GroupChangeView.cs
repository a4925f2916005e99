namespace LightQ.Cli.Groups;

/// <summary>A group that was paused, resumed or deleted.</summary>
internal sealed record GroupChangeView(string Topic, string Group, string Change);
