using System.Text;
using Google.Protobuf;
using LightQ.Broker;
using LightQ.Server.Json;
using LightQ.Server.Messages;
using Microsoft.Extensions.Primitives;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>Requests in JSON over HTTP, and the tokens that they carry.</summary>
internal static class JsonTargets
{
    private static readonly HashSet<Type> Refusals = [typeof(BrokerException)];
    private static readonly JsonRoute[] Bodies = [.. JsonRoutes.All.Where(r => r.HasBody)],
        Parameters = [.. JsonRoutes.All.Where(r => !r.HasBody)];

    public static IEnumerable<FuzzTarget> All()
    {
        yield return new FuzzTarget
        {
            Name = "json-bodies",
            What = "the body of a request over HTTP, behind a byte that chooses its method, and written again",
            Parse = input => !input.IsEmpty && Read(Bodies[input[0] % Bodies.Length], [], input[1..]),
            Seeds =
            [
                Seed(
                    "Publish",
                    """{"messages": [{"key": "NDI=", "body": "aGVsbG8=", "timeToLive": "5.5s", "headers": [{"name": "a", "value": "eA=="}]}]}"""
                ),
                Seed(
                    "Fetch",
                    """{"group": "billing", "max_messages": 10, "wait": "20s", "lockDuration": "30s", "partition": 1}"""
                ),
                Seed(
                    "Settle",
                    """{"settlements": [{"token": "AAAA", "kind": "SETTLE_KIND_ABANDON", "delay": "0.001s", "reason": "\u00e9"}]}"""
                ),
                Seed(
                    "CreateTopic",
                    """{"name": "orders", "settings": {"kind": "TOPIC_KIND_DURABLE", "partitions": 3, "retentionBytes": "5"}}"""
                ),
                Seed("Grant", """{"grant": {"user": "alice", "right": "RIGHT_CONSUME", "topic": "*"}}"""),
            ],
            Tokens = FuzzText.Bytes(
                "null",
                "{",
                "}",
                "[",
                "]",
                "\\ud800",
                "\\u0000",
                "1e999",
                "-0",
                "9223372036854775808",
                "\"@type\":",
                "\"NaN\"",
                ",",
                "true",
                "\"315576000001s\"",
                "0.5"
            ),
            Refusals = Refusals,
            MaxLength = 512,
            MaxAllocation = 512 * 1024,
            GateExecutions = 30_000,
        };
        yield return new FuzzTarget
        {
            Name = "json-parameters",
            What = "the parameters of a request over HTTP, behind a byte that chooses its method",
            Parse = input =>
                !input.IsEmpty
                && Read(Parameters[input[0] % Parameters.Length], Pairs(Encoding.UTF8.GetString(input[1..])), []),
            Seeds =
            [
                Seed("ListTopics", "page_size=10&pageToken=x"),
                Seed("WatchTopicStats", "interval=0.5s&partition=1"),
                Seed("ListGroups", "topic=orders"),
                Seed("GetTopicStats", "partition=4294967295"),
            ],
            Tokens = FuzzText.Bytes("=", "&", "topic=", "-1", "1e9", "true", "\"", "\\", "null"),
            Refusals = Refusals,
            MaxLength = 256,
            GateExecutions = 30_000,
        };
        yield return new FuzzTarget
        {
            Name = "settle-tokens",
            What = "the token of a message that was fetched, and written again",
            Parse = input =>
            {
                string text = FuzzText.Of(input);
                if (!SettleToken.TryParse(text, out SettleToken token))
                    return false;
                ThrowUnless(token.ToString() == text && token.Offset >= 0, "a token is written as it was read");
                return true;
            },
            Seeds = FuzzText.Bytes(
                new SettleToken(new Guid(1, 2, 3, [4, 5, 6, 7, 8, 9, 10, 11]), 3, 7, 1L << 40).ToString(),
                new SettleToken(default, uint.MaxValue, 0, long.MaxValue).ToString()
            ),
            Tokens = FuzzText.Bytes("=", " ", "-", "_", "+"),
            MaxLength = 64,
        };
    }

    private static byte[] Seed(string method, string text)
    {
        int body = Array.FindIndex(Bodies, r => r.Method.Name == method);
        return
        [
            (byte)(body >= 0 ? body : Array.FindIndex(Parameters, r => r.Method.Name == method)),
            .. Encoding.UTF8.GetBytes(text),
        ];
    }

    private static IEnumerable<KeyValuePair<string, StringValues>> Pairs(string text) =>
        text.Split('&')
            .Select(p => p.Split('=', 2))
            .GroupBy(p => p[0], p => p.Length == 2 ? p[1] : "")
            .Select(g => new KeyValuePair<string, StringValues>(g.Key, g.ToArray()));

    private static bool Read(
        JsonRoute route,
        IEnumerable<KeyValuePair<string, StringValues>> query,
        ReadOnlySpan<byte> body
    )
    {
        var path = route.PathFields.ToDictionary(f => f.Name, object? (_) => "here");
        IMessage request = JsonRequest.Read(route, path, query, body);
        ThrowUnless(
            route.PathFields.All(f => (string)f.Accessor.GetValue(request) == "here"),
            "what the path says holds"
        );
        ThrowUnless(
            request.Descriptor.Parser.ParseFrom(request.ToByteString()).Equals(request),
            "a request is what is sent of it"
        );
        return true;
    }
}
