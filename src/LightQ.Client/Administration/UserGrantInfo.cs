namespace LightQ.Client.Administration;

/// <summary>A right that a user has.</summary>
/// <param name="User">The user's name.</param>
/// <param name="Right">The right.</param>
/// <param name="Topic">
/// A topic's name, a prefix followed by <c>*</c> such as <c>orders.*</c>, or <c>*</c> for all topics.
/// </param>
public sealed record UserGrantInfo(string User, UserRight Right, string Topic);
