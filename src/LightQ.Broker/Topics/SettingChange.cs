namespace LightQ.Broker.Topics;

/// <summary>One setting that differs.</summary>
/// <param name="Setting">Its name on the control plane.</param>
/// <param name="From">Its value before.</param>
/// <param name="To">Its value now.</param>
public sealed record SettingChange(string Setting, string From, string To);
