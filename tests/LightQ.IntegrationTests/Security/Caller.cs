using LightQ.Broker.Users;

namespace LightQ.IntegrationTests.Security;

/// <summary>
/// Somebody who calls a broker in a test, and a plain model of what they may do: a list of rights, and nothing of the
/// broker's code.
/// </summary>
internal sealed class Caller(string name, string? token, params (Right Right, string Pattern)[] rights)
{
    public string Name { get; } = name;

    /// <summary>Null for somebody who shows nothing.</summary>
    public string? Token { get; } = token;

    public IReadOnlyList<(Right Right, string Pattern)> Rights { get; } = rights;

    /// <summary>Whether a right on a topic follows from the list; null asks for any.</summary>
    public bool May(Right? right, string topic)
    {
        foreach ((Right given, string pattern) in Rights)
        {
            bool isOnTopic =
                pattern == "*"
                || pattern == topic
                || (
                    pattern.Length > 1
                    && pattern[^1] == '*'
                    && topic.StartsWith(pattern[..^1], StringComparison.Ordinal)
                );
            if (given == Right.Admin || (isOnTopic && (right is null || right == given)))
                return true;
        }
        return false;
    }

    /// <summary>
    /// Makes a user with these rights and a token of it, without a password, which would cost a hash.
    /// </summary>
    public static Caller Create(TestServer server, string name, params (Right Right, string Pattern)[] rights)
    {
        server.Broker.Users.Create(name, "");
        foreach ((Right right, string pattern) in rights)
            server.Broker.Users.Grant(name, Grant.Create(right, pattern));
        return new Caller(name, TokenOf(server, name), rights);
    }

    /// <summary>A lasting token of a user.</summary>
    public static string TokenOf(TestServer server, string user)
    {
        string token = LightQ.Server.Security.Authenticator.NewToken();
        server.Broker.Users.AddToken(user, LightQ.Server.Security.Authenticator.HashOf(token), null, "");
        return token;
    }

    public override string ToString() => $"{Name} [{string.Join(", ", Rights.Select(r => $"{r.Right} {r.Pattern}"))}]";
}
