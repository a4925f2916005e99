namespace LightQ.Client.Administration;

/// <summary>A token that was just created.</summary>
/// <param name="Token">
/// The token, for <see cref="LightQClientOptions.Token"/>. The broker keeps only its hash and cannot show it again.
/// </param>
/// <param name="Info">The token's id, user, times and description.</param>
public sealed record CreatedToken(string Token, TokenInfo Info)
{
    /// <summary>Only the token's id.</summary>
    public override string ToString() => Info.Id;
}
