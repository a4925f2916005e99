namespace LightQ.Broker.Users;

/// <summary>A login of a cluster that was logged out before its time.</summary>
/// <param name="Id">The login's id, which its token names.</param>
/// <param name="Expires">When the token would have ended by itself.</param>
/// <param name="Time">When it was logged out.</param>
public sealed record EndedLogin(Guid Id, DateTimeOffset Expires, DateTimeOffset Time)
{
    /// <summary>The clocks of nodes may differ by so much, and no token counts longer for it.</summary>
    private static readonly TimeSpan Slack = TimeSpan.FromMinutes(5);

    /// <summary>The table with this login, and without those whose tokens have ended by themselves.</summary>
    internal UserTable ApplyTo(UserTable table) =>
        table with
        {
            EndedLogins = table
                .EndedLogins.RemoveRange(
                    table.EndedLogins.Values.Where(l => l.Expires + Slack <= Time).Select(l => l.Id)
                )
                .SetItem(Id, this),
        };
}
