namespace LightQ.Server.Security;

/// <summary>
/// A login, or a change of users and rights, of topics and groups, or of the broker's own state. Holds no secret:
/// never a password, a token or a hash of one.
/// </summary>
/// <param name="Action">What happened.</param>
/// <param name="Actor">
/// The actor: a principal's name such as <c>user:alice</c>; for a rejected login, the name that it claimed, cut to 200
/// printable characters.
/// </param>
/// <param name="Origin">Where it came from.</param>
/// <param name="Subject">
/// What it was done to: a user's name, a token's id, a topic, a group as TOPIC/GROUP; empty when that is the actor.
/// </param>
/// <param name="Detail">
/// Details for people: the right that was granted, the mechanism of a login, why one was rejected. May be empty.
/// </param>
internal sealed record SecurityEvent(
    SecurityAction Action,
    string Actor,
    Origin Origin,
    string Subject = "",
    string Detail = ""
);
