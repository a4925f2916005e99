namespace LightQ.Client.Administration;

/// <summary>Who the broker takes this client for.</summary>
/// <param name="User">
/// The user's name, <c>admin</c> or <c>anonymous</c>; <c>TOPIC/USER</c> for a topic's own user.
/// </param>
/// <param name="IsAdmin">Whether it may do everything.</param>
/// <param name="Grants">Its rights; empty for who may do everything.</param>
public sealed record CallerInfo(string User, bool IsAdmin, IReadOnlyList<UserGrantInfo> Grants);
