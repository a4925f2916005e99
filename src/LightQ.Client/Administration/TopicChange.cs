namespace LightQ.Client.Administration;

/// <summary>A setting that was changed, or differs.</summary>
/// <param name="Setting">The setting's name.</param>
/// <param name="From">Its value before, as text.</param>
/// <param name="To">Its value now, as text.</param>
public sealed record TopicChange(string Setting, string From, string To);
