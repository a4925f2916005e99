using LightQ.Broker.Logs;
using LightQ.Storage;

namespace LightQ.Broker.Subscriptions;

/// <summary>What a subscription has to send.</summary>
/// <param name="Run">The run, when it is one.</param>
/// <param name="Gap">The gap, when it is one.</param>
public readonly record struct Delivery(LentRun Run, LogGap Gap);
