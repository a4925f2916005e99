namespace LightQ.Client;

/// <summary>A subscription stands: what is published from now on will come.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="NextOffset">Offset of the first message that will come.</param>
/// <param name="StartOffset">Offset of the oldest message that the topic holds.</param>
/// <param name="EndOffset">One behind the offset of the newest.</param>
/// <param name="IsResumed">Whether this is a resumption after a reconnect.</param>
public sealed record SubscriptionStarted(string Topic, long NextOffset, long StartOffset, long EndOffset, bool IsResumed);
