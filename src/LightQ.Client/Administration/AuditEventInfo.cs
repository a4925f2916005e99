namespace LightQ.Client.Administration;

/// <summary>A line of a broker's audit log.</summary>
/// <param name="Sequence">Its number, from 1, without gaps.</param>
/// <param name="Time">When it happened.</param>
/// <param name="Event">What happened, such as <c>right-granted</c>.</param>
/// <param name="Actor">
/// Who did it: <c>user:alice</c>, <c>topic-user:orders/alice</c>, <c>admin</c>, <c>anonymous</c> or <c>broker</c>. Of a
/// rejected login, which user it claimed to be.
/// </param>
/// <param name="Plane"><c>data</c>, <c>control</c> or <c>web</c>; empty for the broker itself.</param>
/// <param name="Peer">The address that the call came from; empty for the broker itself.</param>
/// <param name="Subject">What it was done to: a user, a topic, a group as <c>TOPIC/GROUP</c>.</param>
/// <param name="Detail">The right, the settings before and after, the offsets, how a login was tried.</param>
/// <param name="Hash">The line's SHA-256, 64 hexadecimal digits.</param>
public sealed record AuditEventInfo(
    long Sequence,
    DateTimeOffset Time,
    string Event,
    string Actor,
    string Plane,
    string Peer,
    string Subject,
    string Detail,
    string Hash
);
