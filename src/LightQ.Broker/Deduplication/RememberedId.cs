namespace LightQ.Broker.Deduplication;

/// <summary>What is remembered of a message's id.</summary>
/// <param name="Key">See <see cref="DedupWindow.KeyOf"/>.</param>
/// <param name="Offset">Where the message was published.</param>
/// <param name="Time">When it was appended, unix microseconds.</param>
/// <param name="User">The <see cref="Users.UserNumber"/> of whoever published it.</param>
internal readonly record struct RememberedId(UInt128 Key, long Offset, long Time, uint User);
