using LightQ.Broker.Logs;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Subscriptions;

/// <summary>What a subscription has to send.</summary>
/// <param name="Run">The run, when it is one; its memory is empty when the batch is the one sent before.</param>
/// <param name="Gap">The gap, when it is one.</param>
/// <param name="Range">
/// With explicit settlement in a group: which messages of the run, a single batch, and how they are locked. Else its
/// count is 0.
/// </param>
public readonly record struct Delivery(LentRun Run, LogGap Gap, GroupDelivery Range);
