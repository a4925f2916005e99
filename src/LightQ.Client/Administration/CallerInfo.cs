namespace LightQ.Client.Administration;

/// <summary>The user as which the broker treats this client.</summary>
/// <param name="User">
/// The user's name, <c>admin</c> or <c>anonymous</c>; <c>TOPIC/USER</c> for a topic's own user.
/// </param>
/// <param name="IsAdmin">Whether the user may do everything.</param>
/// <param name="Grants">The user's rights; empty for a user that may do everything.</param>
public sealed record CallerInfo(string User, bool IsAdmin, IReadOnlyList<UserGrantInfo> Grants);
