using LightQ.Broker.Users;
using LightQ.Client;

namespace LightQ.IntegrationTests.Security;

/// <summary>Something that a caller tries on a topic.</summary>
/// <param name="Plane">Which port it goes to.</param>
/// <param name="Name">The rpc or frame.</param>
/// <param name="Right">The right it needs; null for any.</param>
/// <param name="OnTopic">
/// What an allowed one is answered where the topic exists; null: not tried, it would change what others see.
/// </param>
/// <param name="OnNothing">The same where it does not.</param>
/// <param name="TryAsync">Tries it: the code it is answered with, and the message.</param>
internal sealed record Operation(
    string Plane,
    string Name,
    Right? Right,
    ErrorCode? OnTopic,
    ErrorCode? OnNothing,
    Func<CallerSession, string, Task<(ErrorCode Code, string Message)>> TryAsync
)
{
    public override string ToString() => $"{Plane} {Name}";
}
