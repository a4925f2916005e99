namespace LightQ.Broker.Users;

/// <summary>The password of admin in a cluster, the same at each node.</summary>
/// <param name="Password">Its hash, see <see cref="PasswordHash"/>.</param>
/// <param name="Generation">Counts its changes: a login with an earlier one has ended.</param>
public sealed record AdminCredentials(string Password, uint Generation)
{
    /// <summary>Without the hash, which a record would print.</summary>
    public override string ToString() => $"generation {Generation}";
}
