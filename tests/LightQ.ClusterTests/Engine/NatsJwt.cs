using System.Buffers.Text;
using System.Text;
using System.Text.Json.Nodes;
using NATS.NKeys;

namespace LightQ.ClusterTests.Engine;

/// <summary>Tokens of a NATS operator, its accounts and their users, as <c>nsc</c> signs them.</summary>
internal static class NatsJwt
{
    private static readonly string[] AccountLimits =
    [
        "subs",
        "data",
        "payload",
        "imports",
        "exports",
        "conn",
        "leaf",
        "mem_storage",
        "disk_storage",
        "streams",
        "consumer",
    ];

    private static readonly string[] StorageLimits = ["mem_storage", "disk_storage"];

    private static readonly string[] UserLimits = ["subs", "data", "payload"];

    /// <summary>An operator, which signs its own token.</summary>
    public static string OfOperator(KeyPair key) => Sign(key, key, "operator", []);

    /// <summary>An account without limits; the system's may store nothing.</summary>
    public static string OfAccount(KeyPair account, KeyPair signer, bool isSystem = false)
    {
        JsonObject limits = Unlimited(isSystem ? AccountLimits.Except(StorageLimits) : AccountLimits);
        limits["wildcards"] = true;
        return Sign(
            account,
            signer,
            "account",
            new JsonObject
            {
                ["limits"] = limits,
                ["default_permissions"] = new JsonObject { ["pub"] = new JsonObject(), ["sub"] = new JsonObject() },
            }
        );
    }

    /// <summary>The file of a user of an account: its token, and its seed.</summary>
    public static string FileOf(KeyPair user, KeyPair account)
    {
        JsonObject claims = Unlimited(UserLimits);
        claims["pub"] = new JsonObject();
        claims["sub"] = new JsonObject();
        return $"""
            -----BEGIN NATS USER JWT-----
            {Sign(user, account, "user", claims)}
            ------END NATS USER JWT------

            -----BEGIN USER NKEY SEED-----
            {user.GetSeed()}
            ------END USER NKEY SEED------

            """;
    }

    private static JsonObject Unlimited(IEnumerable<string> names) =>
        new(names.Select(name => KeyValuePair.Create<string, JsonNode?>(name, -1)));

    private static string Sign(KeyPair subject, KeyPair signer, string type, JsonObject claims)
    {
        claims["type"] = type;
        claims["version"] = 2;
        var body = new JsonObject
        {
            ["jti"] = Guid.NewGuid().ToString("N"),
            ["iat"] = DateTimeOffset.UtcNow.AddMinutes(-1).ToUnixTimeSeconds(),
            ["iss"] = signer.GetPublicKey(),
            ["name"] = type,
            ["sub"] = subject.GetPublicKey(),
            ["nats"] = claims,
        };
        string text = $"{Encode("""{"typ":"JWT","alg":"ed25519-nkey"}""")}.{Encode(body.ToJsonString())}";
        byte[] signature = new byte[64];
        signer.Sign(Encoding.UTF8.GetBytes(text), signature);
        return $"{text}.{Base64Url.EncodeToString(signature)}";
    }

    private static string Encode(string text) => Base64Url.EncodeToString(Encoding.UTF8.GetBytes(text));
}
