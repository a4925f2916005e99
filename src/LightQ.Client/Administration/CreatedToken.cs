namespace LightQ.Client.Administration;

/// <summary>A token just made.</summary>
/// <param name="Token">
/// The token, for <see cref="LightQClientOptions.Token"/>. The broker keeps its hash alone and cannot show it again.
/// </param>
/// <param name="Info">What is known of it.</param>
public sealed record CreatedToken(string Token, TokenInfo Info)
{
    /// <summary>The token's id alone.</summary>
    public override string ToString() => Info.Id;
}
