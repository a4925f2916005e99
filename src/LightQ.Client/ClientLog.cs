using Microsoft.Extensions.Logging;

namespace LightQ.Client;

/// <summary>Every line the SDK logs.</summary>
internal static partial class ClientLog
{
    [LoggerMessage(1, LogLevel.Information, "Connected to {Broker} as connection {ConnectionId}.")]
    public static partial void Connected(ILogger logger, string broker, uint connectionId);

    [LoggerMessage(2, LogLevel.Warning, "The connection to {Broker} was lost ({Code}: {Reason}); reconnecting.")]
    public static partial void Lost(ILogger logger, string broker, ErrorCode code, string reason);

    [LoggerMessage(
        3,
        LogLevel.Information,
        "No connection to {Broker} yet ({Code}: {Reason}); next attempt in {DelayMilliseconds} ms."
    )]
    public static partial void AttemptFailed(
        ILogger logger,
        string broker,
        ErrorCode code,
        string reason,
        double delayMilliseconds
    );

    [LoggerMessage(
        4,
        LogLevel.Information,
        "The broker at {Broker} asks to leave within {TimeLeftMilliseconds} ms ({Code}: {Reason})."
    )]
    public static partial void GoAway(
        ILogger logger,
        string broker,
        ErrorCode code,
        uint timeLeftMilliseconds,
        string reason
    );

    [LoggerMessage(
        5,
        LogLevel.Warning,
        "Messages {FirstOffset} to {LastOffset} of {Topic}, partition {Partition}, will not come: {Reason}."
    )]
    public static partial void Gap(
        ILogger logger,
        string topic,
        int partition,
        long firstOffset,
        long lastOffset,
        GapReason reason
    );

    [LoggerMessage(6, LogLevel.Warning, "The producer on {Topic} failed ({Code}: {Reason}).")]
    public static partial void ProducerFailed(ILogger logger, string topic, ErrorCode code, string reason);

    [LoggerMessage(7, LogLevel.Warning, "The subscription to {Topic} ended ({Code}: {Reason}).")]
    public static partial void SubscriptionEnded(ILogger logger, string topic, ErrorCode code, string reason);

    [LoggerMessage(9, LogLevel.Warning, "{Messages} of {Topic} cannot be completed: they were completed before.")]
    public static partial void NotSettled(ILogger logger, string messages, string topic);

    [LoggerMessage(10, LogLevel.Error, "The broker ended the subscription to {Topic}, which was too slow: {Reason}.")]
    public static partial void EndedAsSlow(ILogger logger, string topic, string reason);

    [LoggerMessage(8, LogLevel.Error, "A handler of {Event} threw.")]
    public static partial void HandlerFailed(ILogger logger, Exception exception, string @event);

    [LoggerMessage(
        11,
        LogLevel.Error,
        "The processor of {Topic} for {Group} failed ({Source}, partition {Partition}, offset {Offset}, key {Key}, "
            + "message id {MessageId}, delivery {Delivery}). {Next}"
    )]
    public static partial void ProcessingFailed(
        ILogger logger,
        Exception exception,
        ProcessErrorSource source,
        string topic,
        string group,
        int partition,
        long offset,
        string key,
        string messageId,
        string delivery,
        string next
    );

    [LoggerMessage(2130, LogLevel.Error, "The processor of {Topic} for {Group} failed ({Source}).")]
    public static partial void ProcessorFailed(
        ILogger logger,
        Exception exception,
        ProcessErrorSource source,
        string topic,
        string group
    );

    [LoggerMessage(2131, LogLevel.Error, "The processor of {Topic} for {Group} failed again ({Source}): {Error}")]
    public static partial void ProcessorFailedAgain(
        ILogger logger,
        ProcessErrorSource source,
        string topic,
        string group,
        string error
    );

    [LoggerMessage(
        2132,
        LogLevel.Error,
        "A message of {Topic} has failed for the last time and becomes a dead letter of {Group} (partition "
            + "{Partition}, offset {Offset}, key {Key}, message id {MessageId}, delivery {Delivery}): {Error}"
    )]
    public static partial void LastDeliveryFailed(
        ILogger logger,
        string topic,
        string group,
        int partition,
        long offset,
        string key,
        string messageId,
        string delivery,
        string error
    );

    [LoggerMessage(
        2133,
        LogLevel.Warning,
        "A handler of {Topic} for {Group} has run for {Seconds:0} s, longer than a lock (partition {Partition}, offset "
            + "{Offset}, key {Key}, message id {MessageId}, delivery {Delivery}). The lock, of {LockSeconds:0} s, is "
            + "renewed until the handler has run for {RenewalSeconds:0} s (MaxLockRenewal)."
    )]
    public static partial void HandlerRunsLong(
        ILogger logger,
        string topic,
        string group,
        double seconds,
        int partition,
        long offset,
        string key,
        string messageId,
        string delivery,
        double lockSeconds,
        double renewalSeconds
    );

    [LoggerMessage(
        2134,
        LogLevel.Error,
        "The lock of a message of {Topic} is renewed for {Group} no longer (partition {Partition}, offset {Offset}, "
            + "key {Key}, message id {MessageId}, delivery {Delivery}): its handler has run for {Seconds:0} s. The "
            + "message is redelivered. Slot {Slot} of {Slots} stays taken until the handler returns; {Free} are free."
    )]
    public static partial void SlotTaken(
        ILogger logger,
        string topic,
        string group,
        int partition,
        long offset,
        string key,
        string messageId,
        string delivery,
        double seconds,
        int slot,
        int slots,
        int free
    );

    [LoggerMessage(2135, LogLevel.Error, "The processor of {Topic} for {Group} handles nothing: {Reason}.")]
    public static partial void NoFreeSlot(ILogger logger, string topic, string group, string reason);

    [LoggerMessage(
        2140,
        LogLevel.Warning,
        "Messages of {Topic} are published with ids, and the topic looks at none: it has no deduplication window "
            + "(DedupWindow), so that a message with the same id is stored again. This is logged once for a producer."
    )]
    public static partial void IdsUnchecked(ILogger logger, string topic);

    [LoggerMessage(2141, LogLevel.Information, "The topic {Topic} was created.")]
    public static partial void TopicCreated(ILogger logger, string topic);

    [LoggerMessage(
        2142,
        LogLevel.Warning,
        "The topic {Topic} had other settings, which were changed: {Changes}. If another program wants them otherwise, "
            + "the last to start wins: one changes a topic, and others create or check it (EnsureMode)."
    )]
    public static partial void TopicChanged(ILogger logger, string topic, string changes);

    [LoggerMessage(
        2143,
        LogLevel.Warning,
        "The topic {Topic} has other settings than this program expects, and was left as it is: to be as expected, it "
            + "would change {Changes}."
    )]
    public static partial void TopicDiffers(ILogger logger, string topic, string changes);

    [LoggerMessage(
        2145,
        LogLevel.Warning,
        "The token with which this client is logged in at {Broker} ends in {Hours:0.0} h, at {End:u}: the client is "
            + "cut off then. Give it another one; with TokenFile or TokenProvider it takes that with its next login."
    )]
    public static partial void TokenEnds(ILogger logger, string broker, double hours, DateTimeOffset end);

    [LoggerMessage(2136, LogLevel.Information, "The processor of {Topic} for {Group} has a free slot again.")]
    public static partial void SlotFree(ILogger logger, string topic, string group);

    [LoggerMessage(
        2137,
        LogLevel.Warning,
        "The processor of {Topic} for {Group} stops, and {Running} handlers have not ended in time ({Seconds:0} s); "
            + "they are asked to (CancellationToken), and their messages are redelivered."
    )]
    public static partial void HandlersCancelled(
        ILogger logger,
        string topic,
        string group,
        int running,
        double seconds
    );

    [LoggerMessage(
        2138,
        LogLevel.Error,
        "The processor of {Topic} for {Group} has stopped, and {Running} handlers still run, though they were asked to "
            + "end; nobody waits for them any longer."
    )]
    public static partial void HandlersLeft(ILogger logger, string topic, string group, int running);

    [LoggerMessage(
        12,
        LogLevel.Error,
        "{Topic} is consumed without partition {Partition}, which the broker does not serve ({Code}: {Reason})."
    )]
    public static partial void PartitionRefused(
        ILogger logger,
        string topic,
        int partition,
        ErrorCode code,
        string reason
    );

    [LoggerMessage(
        2080,
        LogLevel.Warning,
        "Waiting for the broker at {Broker} ({Code}: {Reason}). What this host does with it begins when it answers; "
            + "next word in {SilenceSeconds} s."
    )]
    public static partial void WaitingForBroker(
        ILogger logger,
        string broker,
        ErrorCode code,
        string reason,
        double silenceSeconds
    );

    [LoggerMessage(
        2081,
        LogLevel.Information,
        "The broker at {Broker} is there, after {Seconds:0.0} s; what this host does with it begins."
    )]
    public static partial void BrokerFound(ILogger logger, string broker, double seconds);

    [LoggerMessage(
        2082,
        LogLevel.Error,
        "The processor of {Topic} for {Group} failed again ({Source}, partition {Partition}, offset {Offset}, key "
            + "{Key}, message id {MessageId}, delivery {Delivery}): {Error} {Next}"
    )]
    public static partial void ProcessingFailedAgain(
        ILogger logger,
        ProcessErrorSource source,
        string topic,
        string group,
        int partition,
        long offset,
        string key,
        string messageId,
        string delivery,
        string error,
        string next
    );

    [LoggerMessage(
        2083,
        LogLevel.Error,
        "{LeftOut} more failures of the processor of {Topic} for {Group} ({What}) are left out here; the last: {Error}"
    )]
    public static partial void FailuresLeftOut(
        ILogger logger,
        int leftOut,
        string topic,
        string group,
        string what,
        string error
    );

    [LoggerMessage(13, LogLevel.Error, "A handler of {Event} threw again: {Error}")]
    public static partial void HandlerFailedAgain(ILogger logger, string @event, string error);

    [LoggerMessage(
        14,
        LogLevel.Warning,
        "{Count} messages of {Topic} in a row were settled by {Group} after their locks had run out, and are delivered "
            + "again. The work takes longer than the locks last: look at LockDuration and MaxLockRenewal, and if "
            + "messages wait in the application for their turn, at MaxInFlight and MaxConcurrency. "
            + "This is said once in 10 minutes; the metric lightq.client.late.messages counts them."
    )]
    public static partial void SettledLate(ILogger logger, int count, string topic, string? group);

    [LoggerMessage(
        2084,
        LogLevel.Warning,
        "Another producer of {Topic} has taken its name, {Name}, over from the one that had fenced the producer before."
    )]
    public static partial void TookOver(ILogger logger, string topic, string? name);

    [LoggerMessage(
        2110,
        LogLevel.Error,
        "The producer of {Topic} has ended ({Code}: {Reason}); it takes no messages any more."
    )]
    public static partial void ProducerEnded(ILogger logger, string topic, ErrorCode code, string reason);

    [LoggerMessage(2111, LogLevel.Information, "The producer of {Topic} is open again, after {Seconds:0.0} s.")]
    public static partial void ProducerBack(ILogger logger, string topic, double seconds);

    [LoggerMessage(
        2085,
        LogLevel.Information,
        "Partition {Partition} of {Topic} is led elsewhere; asking {Broker}. {Reason}"
    )]
    public static partial void Moves(ILogger logger, int? partition, string topic, string broker, string reason);

    [LoggerMessage(
        2086,
        LogLevel.Warning,
        "No connection to {Broker}, which is said to lead partitions ({Code}: {Reason}); asking others."
    )]
    public static partial void NodeNotReached(ILogger logger, string broker, ErrorCode code, string reason);

    [LoggerMessage(
        2090,
        LogLevel.Error,
        "The processor of {Topic} for {Group} pauses for {Seconds:0.###} s, and longer while trials fail: {Reason} "
            + "Messages wait in the group, and no delivery counts."
    )]
    public static partial void ProcessorPaused(
        ILogger logger,
        Exception exception,
        string topic,
        string group,
        string reason,
        double seconds
    );

    [LoggerMessage(
        2091,
        LogLevel.Information,
        "The processor of {Topic} for {Group} works again, after {Seconds:0.###} s."
    )]
    public static partial void ProcessorWorks(ILogger logger, string topic, string group, double seconds);

    [LoggerMessage(
        2087,
        LogLevel.Warning,
        "This machine's clock is {Seconds:0} s ahead of that of the broker at {Broker} (below zero: behind). The "
            + "broker's decides about messages; a DeliverAt is off by that much."
    )]
    public static partial void Skewed(ILogger logger, string broker, double seconds);
}
