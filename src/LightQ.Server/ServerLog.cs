using System.Net;
using Grpc.Core;
using LightQ.Scheduling;
using Microsoft.Extensions.Logging;

namespace LightQ.Server;

/// <summary>Every log line of the host; the data plane has its own.</summary>
internal static partial class ServerLog
{
    [LoggerMessage(
        2001,
        LogLevel.Information,
        "LightQ {Version} is ready: data {Data}, control {Control}, web {Web}, data directory {Directory}, {Topics} "
            + "topics, started in {Milliseconds} ms"
    )]
    public static partial void Ready(
        ILogger logger,
        string version,
        IPEndPoint data,
        IPEndPoint control,
        IPEndPoint web,
        string directory,
        int topics,
        long milliseconds
    );

    [LoggerMessage(
        2002,
        LogLevel.Information,
        "Stopping: {Connections} connections are open, they have {Timeout} to end"
    )]
    public static partial void Stopping(ILogger logger, int connections, TimeSpan timeout);

    [LoggerMessage(
        2017,
        LogLevel.Information,
        "Draining: {Clients} clients have {Timeout} to finish what is under way"
    )]
    public static partial void Draining(ILogger logger, int clients, TimeSpan timeout);

    [LoggerMessage(2003, LogLevel.Information, "Stopped: everything acknowledged is kept in {Directory}")]
    public static partial void Stopped(ILogger logger, string directory);

    [LoggerMessage(2004, LogLevel.Information, "The password of the user admin was written to {Path}")]
    public static partial void PasswordWritten(ILogger logger, string path);

    [LoggerMessage(
        2038,
        LogLevel.Warning,
        "The password of the user admin in the cluster is the one in {Path} from now on, at every node: the file was "
            + "changed"
    )]
    public static partial void PasswordChanged(ILogger logger, string path);

    [LoggerMessage(
        2039,
        LogLevel.Warning,
        "{Path} is not the password of the user admin in this cluster, and is ignored: another node has set it; delete "
            + "the file, or write another password into it to set that one at every node"
    )]
    public static partial void PasswordOvertaken(ILogger logger, string path);

    [LoggerMessage(2005, LogLevel.Warning, "{Path} can be read by other users of this machine: chmod 600 it")]
    public static partial void PasswordReadable(ILogger logger, string path);

    [LoggerMessage(
        2018,
        LogLevel.Warning,
        "The password of the user admin in {Path} has fewer than {Least} characters; delete the file to have a good "
            + "one made"
    )]
    public static partial void PasswordShort(ILogger logger, string path, int least);

    [LoggerMessage(
        2006,
        LogLevel.Warning,
        "Listening on {Address} without TLS: passwords and messages can be read on the way"
    )]
    public static partial void Insecure(ILogger logger, IPAddress address);

    [LoggerMessage(
        2007,
        LogLevel.Warning,
        "Listening on {Address} without requiring a login: whoever reaches the ports may do everything"
    )]
    public static partial void OpenToAll(ILogger logger, IPAddress address);

    [LoggerMessage(2008, LogLevel.Error, "Topic {Topic} takes no messages: {Reason}")]
    public static partial void TopicFailed(ILogger logger, string topic, string reason);

    [LoggerMessage(
        2013,
        LogLevel.Error,
        "Topic {Topic} is damaged: subscribers get a gap at offsets {First} to {Last} of partition {Partition}, in "
            + "{File}: {Detail}. Stop the broker, and 'lightq journal verify {Directory}' says more"
    )]
    public static partial void TopicDamaged(
        ILogger logger,
        string topic,
        uint partition,
        long first,
        long last,
        string file,
        string detail,
        string directory
    );

    [LoggerMessage(
        2019,
        LogLevel.Error,
        "Topic {Topic} takes no messages on partition {Partition}, for want of space; it goes on when there is some"
    )]
    public static partial void TopicFull(ILogger logger, string topic, uint partition);

    [LoggerMessage(2020, LogLevel.Warning, "Topic {Topic} takes messages on partition {Partition} again")]
    public static partial void TopicFullNoMore(ILogger logger, string topic, uint partition);

    [LoggerMessage(
        2021,
        LogLevel.Error,
        "The catalog cannot be stored: a restart may undo what was changed of topics, users, rights and tokens. It is "
            + "tried again. {Reason}"
    )]
    public static partial void CatalogFailed(ILogger logger, string reason);

    [LoggerMessage(
        2022,
        LogLevel.Warning,
        "The catalog is stored again, in a new file: what counts is what a restart finds"
    )]
    public static partial void CatalogStored(ILogger logger);

    [LoggerMessage(
        2023,
        LogLevel.Error,
        "The positions of groups cannot be stored: after an unclean stop they get again what they settle from now on. "
            + "It is tried again. {Reason}"
    )]
    public static partial void PositionsFailed(ILogger logger, string reason);

    [LoggerMessage(2024, LogLevel.Warning, "The positions of groups are stored again, all of them")]
    public static partial void PositionsStored(ILogger logger);

    [LoggerMessage(2014, LogLevel.Warning, "Made anew, as it was not as it had been left: {What}")]
    public static partial void Rebuilt(ILogger logger, string what);

    [LoggerMessage(
        2012,
        LogLevel.Warning,
        "'{Directory}' has messages of a topic that the catalog does not know. If the topic was deleted, remove the "
            + "directory; if not, the catalog is an older one, and users and rights may be, too: put it back."
    )]
    public static partial void UnknownTopic(ILogger logger, string directory);

    [LoggerMessage(2025, LogLevel.Error, "The disk refused {What}: {Reason}")]
    public static partial void DiskRefused(ILogger logger, string what, string reason);

    [LoggerMessage(
        2026,
        LogLevel.Warning,
        "Partition {Partition} of {Topic} is lost: {Reason}. Its streams end, until this node or another one claims it"
    )]
    public static partial void PartitionLost(ILogger logger, string topic, uint partition, string reason);

    [LoggerMessage(
        2029,
        LogLevel.Warning,
        "A power cut of all nats-servers may lose messages that were acknowledged, in {Topics} topics with replicas: "
            + "{Reason}. Cluster:RequireSync refuses new ones for it"
    )]
    public static partial void Unsynced(ILogger logger, int topics, string reason);

    [LoggerMessage(
        2090,
        LogLevel.Error,
        "The catalog of the cluster cannot be read: topics, users and rights cannot be changed, and changes of other "
            + "nodes are not seen. It is tried again. {Reason}"
    )]
    public static partial void ClusterCatalogFailed(ILogger logger, string reason);

    [LoggerMessage(2091, LogLevel.Warning, "The catalog of the cluster is read again")]
    public static partial void ClusterCatalogRead(ILogger logger);

    [LoggerMessage(2100, LogLevel.Information, "Node {Node} is there, at {Address}, with version {Version}")]
    public static partial void NodeJoined(ILogger logger, string node, string address, string version);

    [LoggerMessage(2101, LogLevel.Information, "Node {Node} has left")]
    public static partial void NodeLeft(ILogger logger, string node);

    [LoggerMessage(
        2102,
        LogLevel.Warning,
        "Node {Node} has not been heard of for {Milliseconds} ms: others claim its partitions"
    )]
    public static partial void NodeSilent(ILogger logger, string node, long milliseconds);

    [LoggerMessage(
        2103,
        LogLevel.Error,
        "Another broker is there with the name {Node}, which is this one's: it claims no partitions. Give it another "
            + "Cluster:Node"
    )]
    public static partial void NameTaken(ILogger logger, string node);

    [LoggerMessage(
        2104,
        LogLevel.Error,
        "Another broker has the name {Node} already, so this one claims no partitions. Give it another Cluster:Node"
    )]
    public static partial void NameInUse(ILogger logger, string node);

    [LoggerMessage(
        2105,
        LogLevel.Information,
        "Partition {Partition} of {Topic} is led by this node, in epoch {Epoch}"
    )]
    public static partial void PartitionLed(ILogger logger, string topic, uint partition, uint epoch);

    [LoggerMessage(
        2106,
        LogLevel.Information,
        "Partition {Partition} of {Topic} is handed over to node {Node}, in {Milliseconds} ms"
    )]
    public static partial void PartitionHandedOver(
        ILogger logger,
        string topic,
        uint partition,
        string node,
        long milliseconds
    );

    [LoggerMessage(
        2107,
        LogLevel.Information,
        "Node {Node} reads {Entries} entries of partition {Partition} of {Topic} before it takes it over"
    )]
    public static partial void PartitionPrepared(
        ILogger logger,
        string node,
        long entries,
        uint partition,
        string topic
    );

    [LoggerMessage(2108, LogLevel.Warning, "Node {Node} does not get partition {Partition} of {Topic}: {Reason}")]
    public static partial void NodePassedOver(ILogger logger, string node, uint partition, string topic, string reason);

    [LoggerMessage(
        2109,
        LogLevel.Warning,
        "Partition {Partition} of {Topic} is handed over to node {Node} before that has read all of it, and its "
            + "producers wait: {Reason}"
    )]
    public static partial void NodeUnprepared(ILogger logger, uint partition, string topic, string node, string reason);

    [LoggerMessage(
        2111,
        LogLevel.Warning,
        "The start waits for the engine of the cluster, and goes on by itself when that answers: {Reason}"
    )]
    public static partial void WaitsForEngine(ILogger logger, string reason);

    [LoggerMessage(2112, LogLevel.Information, "The engine of the cluster answers, after {Milliseconds} ms")]
    public static partial void EngineAnswers(ILogger logger, long milliseconds);

    [LoggerMessage(2114, LogLevel.Error, "Other authorities of nodes are not used, and those before stay: {Reason}")]
    public static partial void NodeAuthoritiesKept(ILogger logger, string reason);

    [LoggerMessage(2120, LogLevel.Error, "Condition {Kind} of {Subject}: {Detail}. {Remedy}")]
    public static partial void ConditionFailed(
        ILogger logger,
        string kind,
        string subject,
        string detail,
        string remedy
    );

    [LoggerMessage(2121, LogLevel.Warning, "Condition {Kind} of {Subject}: {Detail}. {Remedy}")]
    public static partial void ConditionSeen(ILogger logger, string kind, string subject, string detail, string remedy);

    [LoggerMessage(2122, LogLevel.Warning, "Condition {Kind} of {Subject} is over")]
    public static partial void ConditionOver(ILogger logger, string kind, string subject);

    [LoggerMessage(2123, LogLevel.Warning, "Removed {What}: {Why}")]
    public static partial void Removed(ILogger logger, string what, string why);

    [LoggerMessage(
        2110,
        LogLevel.Warning,
        "Partition {Partition} of {Topic}: its stream has another entry {Sequence} than this node's journal was filled "
            + "from. The stream is read from its front"
    )]
    public static partial void WrongMark(ILogger logger, uint partition, string topic, ulong sequence);

    [LoggerMessage(2009, LogLevel.Warning, "The temporary directory {Directory} could not be deleted: {Reason}")]
    public static partial void DirectoryLeft(ILogger logger, string directory, string reason);

    [LoggerMessage(
        2010,
        LogLevel.Warning,
        "A login from {Peer} was refused: wrong {Mechanism}, or nobody of that name{Unsaid}"
    )]
    public static partial void LoginRefused(ILogger logger, string peer, string mechanism, string unsaid);

    [LoggerMessage(2011, LogLevel.Error, "{Method} failed; the client was told {Code}")]
    public static partial void CallFailed(ILogger logger, Exception exception, string method, StatusCode code);

    [LoggerMessage(2030, LogLevel.Information, "TLS with the certificate {Subject}, which ends on {End:u}")]
    public static partial void CertificateInForce(ILogger logger, string subject, DateTime end);

    [LoggerMessage(
        2031,
        LogLevel.Error,
        "The new certificate cannot be used: {Reason} The one before, {Subject}, stays in force until {End:u}"
    )]
    public static partial void CertificateKept(ILogger logger, string reason, string subject, DateTime end);

    [LoggerMessage(
        2032,
        LogLevel.Warning,
        "A self-signed certificate was made: it is for {Names}, and clients have to be given {Path}"
    )]
    public static partial void CertificateMade(ILogger logger, string names, string path);

    [LoggerMessage(
        2034,
        LogLevel.Warning,
        "The self-signed certificate {Path} is not for {Names}: clients that connect by that are refused by their own "
            + "check. Delete it and start again to have another made, which clients have to be given"
    )]
    public static partial void CertificateLacksNames(ILogger logger, string path, string names);

    [LoggerMessage(
        2037,
        LogLevel.Warning,
        "The certificate files can be used again: TLS with the certificate {Subject}, which ends on {End:u}"
    )]
    public static partial void CertificateInForceAgain(ILogger logger, string subject, DateTime end);

    [LoggerMessage(2035, LogLevel.Warning, "The certificate {Subject} ends on {End:u}: {Remedy}")]
    public static partial void CertificateEnding(ILogger logger, string subject, DateTime end, string remedy);

    [LoggerMessage(
        2036,
        LogLevel.Error,
        "The certificate {Subject} has ended on {End:u}, and clients refuse this broker: {Remedy}"
    )]
    public static partial void CertificateEnded(ILogger logger, string subject, DateTime end, string remedy);

    [LoggerMessage(2040, LogLevel.Warning, "The limit {Setting} was met: {Reason}{Unsaid}")]
    public static partial void LimitMet(ILogger logger, string setting, string reason, string unsaid);

    [LoggerMessage(
        2070,
        LogLevel.Warning,
        "/metrics does not show all of the {Groups} groups but the first {Most} by topic and name; {Setting} is the "
            + "limit"
    )]
    public static partial void GroupsLeftOut(ILogger logger, int groups, int most, string setting);

    [LoggerMessage(
        2071,
        LogLevel.Warning,
        "The topic {Topic}, partition {Partition}, has forgotten {Count} ids of messages before its window of {Window} "
            + "was over, as it remembers {Most} at most: a message of one of them that comes again is stored again. "
            + "lightq topic ensure --dedup-ids has it remember more"
    )]
    public static partial void IdsForgotten(
        ILogger logger,
        string topic,
        uint partition,
        long count,
        int most,
        TimeSpan window
    );

    [LoggerMessage(
        2072,
        LogLevel.Information,
        "The group {Group} of the topic {Topic} has ended: it has had no member and settled nothing for {Unused} "
            + "(Broker:GroupExpiry)"
    )]
    public static partial void GroupEnded(ILogger logger, string group, string topic, TimeSpan unused);

    [LoggerMessage(
        2130,
        LogLevel.Warning,
        "{Count} messages of {Topic}, partition {Partition}, from offset {Offset} on, have become dead letters of "
            + "{Group}, in {DeadTopic}, after {Deliveries} deliveries: {Reason} ({LeftOut} others since the last line)"
    )]
    public static partial void DeadLettered(
        ILogger logger,
        int count,
        string topic,
        uint partition,
        long offset,
        string group,
        string deadTopic,
        int deliveries,
        string reason,
        long leftOut
    );

    [LoggerMessage(
        2041,
        LogLevel.Error,
        "Connections to port {Port} cannot be accepted: {Reason}. They wait until it is possible again{Unsaid}"
    )]
    public static partial void AcceptFailed(ILogger logger, int port, string reason, string unsaid);

    [LoggerMessage(2033, LogLevel.Warning, "A connection from {Peer} to port {Port} was refused: the peer {Reason}")]
    public static partial void HandshakeFailed(ILogger logger, string peer, int port, string reason);

    [LoggerMessage(2045, LogLevel.Warning, "The configuration was read again: {Key} {From} to {To}, {Outcome}")]
    public static partial void Reloaded(ILogger logger, string key, string from, string to, string outcome);

    [LoggerMessage(
        2046,
        LogLevel.Error,
        "The configuration was read again and is refused, nothing has changed: {Reason}"
    )]
    public static partial void ReloadRefused(ILogger logger, string reason);

    [LoggerMessage(
        2047,
        LogLevel.Error,
        "The catalog was repaired and has lost changes, so users, rights and tokens that were removed may be back: "
            + "only admin may log in until 'lightq server confirm-catalog'. {Path} says what is known of them"
    )]
    public static partial void CatalogUnconfirmed(ILogger logger, string path);

    [LoggerMessage(2050, LogLevel.Information, "{Caller} makes a backup, about {Bytes} bytes")]
    public static partial void BackupBegan(ILogger logger, string caller, long bytes);

    [LoggerMessage(
        2051,
        LogLevel.Information,
        "The backup of {Caller} is sent: {Bytes} bytes, {Topics} topics, in {Milliseconds} ms"
    )]
    public static partial void BackupSent(ILogger logger, string caller, long bytes, int topics, long milliseconds);

    [LoggerMessage(2052, LogLevel.Warning, "The backup of {Caller} was given up by its caller behind {Bytes} bytes")]
    public static partial void BackupGivenUp(ILogger logger, string caller, long bytes);

    [LoggerMessage(
        2075,
        LogLevel.Warning,
        "The topic {Topic} keeps messages for ever, and its partition {Partition} has grown to {Bytes} bytes: lightq "
            + "topic ensure --retention settled, --retention-bytes or --retention-age limits it"
    )]
    public static partial void TopicGrown(ILogger logger, string topic, uint partition, long bytes);

    [LoggerMessage(
        2076,
        LogLevel.Warning,
        "The group {Group} keeps {Bytes} bytes of the topic {Topic}, partition {Partition}: it has not settled offset "
            + "{Offset}. If nobody uses the group any more, delete it"
    )]
    public static partial void TopicHeld(
        ILogger logger,
        string topic,
        uint partition,
        long bytes,
        string group,
        long offset
    );

    [LoggerMessage(
        2077,
        LogLevel.Warning,
        "Dead letters of the group {Group} keep {Bytes} bytes of the topic {Topic}, partition {Partition}, from about "
            + "offset {Offset} on: drive them back, or truncate the dead-letter topic"
    )]
    public static partial void TopicHeldByLetters(
        ILogger logger,
        string topic,
        uint partition,
        long bytes,
        string group,
        long offset
    );

    [LoggerMessage(
        2078,
        LogLevel.Warning,
        "The topic {Topic} has no group, so nothing of its partition {Partition} is settled and {Bytes} bytes are kept"
    )]
    public static partial void TopicHeldByNobody(ILogger logger, string topic, uint partition, long bytes);

    [LoggerMessage(
        2080,
        LogLevel.Warning,
        "OTLP: {What} cannot be sent to {Endpoint}. It is tried again, and not said again for an hour. {Reason}"
    )]
    public static partial void ExportFailed(ILogger logger, string what, string endpoint, string reason);

    [LoggerMessage(2081, LogLevel.Warning, "OTLP: {What} reach {Endpoint} again")]
    public static partial void ExportedAgain(ILogger logger, string what, string endpoint);

    [LoggerMessage(
        2085,
        LogLevel.Warning,
        "The machine's clock was set by {By}. The broker goes on by its own time, and takes the clock's over when that "
            + "has lasted for {Trust}"
    )]
    public static partial void ClockSet(ILogger logger, string by, TimeSpan trust);

    [LoggerMessage(2086, LogLevel.Warning, "The machine's clock goes again as it did before it was set by {By}")]
    public static partial void ClockSetBack(ILogger logger, string by);

    [LoggerMessage(
        2087,
        LogLevel.Warning,
        "The machine's clock was set by {By}, and that has lasted: it is the broker's time from now on. What happened "
            + "before keeps its age"
    )]
    public static partial void ClockTaken(ILogger logger, string by);

    /// <summary>The server's clock, whose steps are logged.</summary>
    public static SteadyClock Follow(TimeProvider machine, ILogger logger)
    {
        var clock = SteadyClock.Over(machine);
        clock.Stepped += step =>
        {
            switch (step.State)
            {
                case ClockStepState.Seen:
                    ClockSet(logger, step.Text, SteadyClock.Trust);
                    break;
                case ClockStepState.Undone:
                    ClockSetBack(logger, step.Text);
                    break;
                case ClockStepState.Taken:
                    ClockTaken(logger, step.Text);
                    break;
            }
        };
        return clock;
    }
}
