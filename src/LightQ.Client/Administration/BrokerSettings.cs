namespace LightQ.Client.Administration;

/// <summary>The settings of a broker.</summary>
/// <param name="Node">The node that answered; <c>local</c> for a broker without a cluster.</param>
/// <param name="Settings">All of them, in a fixed order, section by section.</param>
public sealed record BrokerSettings(string Node, IReadOnlyList<SettingInfo> Settings);
