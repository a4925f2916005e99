namespace LightQ.Client.Administration;

/// <summary>
/// What is still under way while a broker drains; see <see cref="OperationsClient.DrainAndStopAsync"/>.
/// </summary>
/// <param name="Connections">Open connections of the data plane, and calls that carry messages.</param>
/// <param name="BusyProducers">Producer streams with messages that are not acknowledged.</param>
/// <param name="HeldMessages">Messages that members of groups hold and have not settled.</param>
/// <param name="TimeLeft">Time until the broker stops in any case.</param>
public sealed record StopProgress(int Connections, int BusyProducers, long HeldMessages, TimeSpan TimeLeft);
