using System.CommandLine;
using LightQ.Cli;
using LightQ.Cli.Options;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Server;
using LightQ.Server.Configuration;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>What people write: names, addresses, connection strings, settings, command lines.</summary>
internal static class TextTargets
{
    private static readonly HashSet<Type> StartRefusals = [typeof(ServerStartException)];

    public static IEnumerable<FuzzTarget> All()
    {
        yield return new FuzzTarget
        {
            Name = "topic-addresses",
            What = "a topic's name, or a partition's",
            Parse = Address,
            Seeds = FuzzText.Bytes("orders", "orders/3", "a.b-c_d/1023"),
            Tokens = FuzzText.Bytes(
                "..",
                "/",
                "//",
                "\0",
                "\u202E",
                "1024",
                "+1",
                " 1",
                "\u0661",
                "CON",
                new string('a', 200)
            ),
            MaxLength = 400,
        };
        yield return new FuzzTarget
        {
            Name = "connection-strings",
            What = "a connection string, and written again",
            Parse = Connection,
            Seeds = FuzzText.Bytes(
                "lightq://localhost",
                "lightq://user:p%20w@[::1]:5700?control=5701&tls=true&ca=/etc/ca.pem&cert=a.pem&key=b.pem",
                "lightq://10.0.0.1:1?token=abc"
            ),
            Tokens = FuzzText.Bytes(
                "%",
                "%00",
                "%FF",
                "@",
                ":",
                "?",
                "&",
                "=",
                "#",
                "[",
                "]",
                "token=",
                "tls=",
                "xn--",
                "\u3002",
                "\u00DF",
                "\u0130",
                "[::1%25eth0]",
                "65536",
                "//",
                "\\",
                "\t"
            ),
            Refusals = new HashSet<Type> { typeof(ArgumentException) },
            MaxLength = 300,
            MaxAllocation = 128 * 1024, // Uri copies a text again and again that is all escapes.
            GateExecutions = 50_000,
        };
        yield return new FuzzTarget
        {
            Name = "durations",
            What = "durations, sizes and starts of the command line",
            Parse = DurationsAndSizes,
            Seeds = FuzzText.Bytes(
                "\u00011.5h",
                "\u0001500ms",
                "\u00017d",
                "\u000210GiB",
                "\u00024096",
                "\u00030",
                "\u0003earliest",
                "\u000315m",
                "\u00032026-01-02T03:04:05Z"
            ),
            Tokens = FuzzText.Bytes(
                "ms",
                "s",
                "m",
                "h",
                "d",
                "KiB",
                "GiB",
                ".",
                "9999999999",
                "NaN",
                "Infinity",
                "-Infinity",
                "\u221E",
                "e999",
                "+14:00",
                "0001-01-01",
                "9999-12-31"
            ),
            MaxLength = 64,
        };
        yield return new FuzzTarget
        {
            Name = "settings",
            What = "each setting's value, and written again",
            Parse = Setting,
            Seeds =
            [
                .. ServerSettings.All.Select(
                    (setting, index) =>
                        (byte[])
                            [
                                (byte)index,
                                .. FuzzText.Bytes(setting.Read(new LightQServerOptions { DataDirectory = "data" }))[0],
                            ]
                ),
                [(byte)ServerSettings.All.ToList().FindIndex(s => s.Key == "DataPlane:Heartbeat"), .. "500ms"u8],
            ],
            Tokens = FuzzText.Bytes(
                "ms",
                "s",
                "d",
                ":",
                "true",
                "FALSE",
                "none",
                "(none)",
                "NaN",
                "-Infinity",
                "\u221E",
                "1e400",
                "::1",
                "0x7f.1",
                "127.1",
                "10675199.02:48:05.4775807",
                "-"
            ),
            Refusals = StartRefusals,
            MaxLength = 128,
        };
        yield return new FuzzTarget
        {
            Name = "environment",
            What = "configuration by the environment",
            Parse = Variables,
            Seeds = FuzzText.Bytes(
                "LIGHTQ__DataPort=5700\nLIGHTQ__DataPlane__Heartbeat=10s\nPATH=/bin",
                "lightq__webport=0",
                "LIGHTQ__Tls__SelfSigned=true"
            ),
            Tokens = FuzzText.Bytes("LIGHTQ__", "__", "=", "\n", "DataPlane", ":", "BindPort"),
            Refusals = StartRefusals,
            MaxLength = 512,
            MaxAllocation = 512 * 1024,
            GateExecutions = 30_000,
        };
        yield return new FuzzTarget
        {
            Name = "configuration-files",
            What = "a configuration file",
            Parse = ConfigurationFile,
            Seeds = FuzzText.Bytes(
                "{ \"DataPort\": 5700, \"DataPlane\": { \"Heartbeat\": \"10s\" } }",
                "{\"Tls\":{\"SelfSigned\":true}, // why\n \"Bind\":\"::1\",}",
                "{}"
            ),
            Tokens = FuzzText.Bytes(
                "{",
                "}",
                "[",
                "]",
                "null",
                "\"\"",
                ":",
                ",",
                "\"DataPort\"",
                "\"Broker\":{",
                "\\ud800",
                "\\u0000",
                "1e999",
                "//",
                "/*",
                "\uFEFF"
            ),
            Refusals = StartRefusals,
            MaxLength = 512,
            MaxAllocation = 512 * 1024,
            GateExecutions = 30_000,
        };
        var root = CommandLine.CreateRoot();
        yield return new FuzzTarget
        {
            Name = "command-lines",
            What = "a command line, and what is wrong with it",
            Parse = input => Words(root, input),
            Seeds = FuzzText.Bytes(
                "topic\0create\0orders\0--kind\0durable\0--retention-age\07d",
                "pub\0orders/3\0hello\0--ttl\0500ms",
                "sub\0orders\0--filter\0a = 'b'\0--group\0g\0--lock\030s",
                "server\0--data-port\05700",
                "bench\0latency\0--duration\03s",
                "topic\0list\0--output\0json"
            ),
            Tokens = FuzzText.Bytes(
                "\0",
                "\0--",
                "\0-",
                "--output\0",
                "\0--retention-bytes\0",
                "=",
                ":",
                "@",
                "\0@x",
                "none",
                "1e999",
                "10GiB",
                "\0\0"
            ),
            MaxLength = 256,
            MaxAllocation = 1024 * 1024,
            GateExecutions = 10_000,
        };
    }

    private static bool Address(ReadOnlySpan<byte> input)
    {
        string text = FuzzText.Of(input);
        _ = TopicName.Printable(text);
        if (!TopicAddress.TryParse(text, out TopicAddress address, out string problem))
        {
            ThrowUnless(problem.Length != 0, "a refusal has a reason");
            return false;
        }
        ThrowUnless(
            TopicName.IsValid(address.Topic) && address.Partition is null or (>= 0 and < ProtocolLimits.MaxPartitions),
            "an address is within its limits"
        );
        ThrowUnless(
            TopicAddress.TryParse(address.ToString(), out TopicAddress again, out _) && again == address,
            "an address that is written reads back as the same"
        );
        ThrowUnless(
            Path.GetFileName(address.Topic) == address.Topic && address.Topic is not ("." or ".."),
            "a name is no path"
        );
        return true;
    }

    private static bool Connection(ReadOnlySpan<byte> input)
    {
        LightQClientOptions options = LightQClientOptions.Parse(FuzzText.Of(input));
        ThrowUnless(
            options
                is { DataPort: > 0 and <= ushort.MaxValue, ControlPort: > 0 and <= ushort.MaxValue, Host.Length: > 0 },
            "options are within their limits"
        );
        string written = options.ToString();
        LightQClientOptions open = options with { Password = null, Token = null };
        ThrowUnless(
            LightQClientOptions.Parse(written) == open,
            "a connection string that is written reads back as the same, but for its secrets"
        );
        return true;
    }

    private static bool DurationsAndSizes(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty)
            return false;
        string text = FuzzText.Of(input[1..]);
        switch (input[0] & 3)
        {
            case 1:
                bool isDuration = DurationText.TryParse(text, out TimeSpan duration);
                ThrowUnless(duration >= TimeSpan.Zero, "a duration is not below zero");
                _ = DurationText.Format(duration);
                return isDuration;
            case 2:
                bool isSize = SizeText.TryParse(text, out long bytes);
                ThrowUnless(bytes >= 0, "a size is not below zero");
                return isSize;
            default:
                return StartText.TryParse(text, DateTimeOffset.UnixEpoch.AddYears(56), out _);
        }
    }

    private static bool Setting(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty)
            return false;
        ServerSetting setting = ServerSettings.All[input[0] % ServerSettings.All.Count];
        LightQServerOptions options = setting.Apply(new LightQServerOptions(), FuzzText.Of(input[1..]), "fuzzed");
        string text = setting.Read(options);
        ThrowUnless(
            setting.Read(setting.Apply(new LightQServerOptions(), text, "written")) == text,
            $"a value of {setting.Key} that is shown can be given"
        );
        return true;
    }

    private static bool Variables(ReadOnlySpan<byte> input)
    {
        IEnumerable<KeyValuePair<string, string>> variables = FuzzText
            .Of(input)
            .Split('\n')
            .Select(line => line.Split('=', 2))
            .Where(parts => parts.Length == 2)
            .Select(parts => KeyValuePair.Create(parts[0], parts[1]));
        return ServerConfiguration.Of([.. ConfigurationLayers.ReadEnvironment(variables)]).Values.Count
            == ServerSettings.All.Count;
    }

    private static bool ConfigurationFile(ReadOnlySpan<byte> input)
    {
        using var file = new MemoryStream(input.ToArray());
        return ServerConfiguration.Of(ConfigurationLayers.ReadJson(file, "fuzzed.json")).Values.Count
            == ServerSettings.All.Count;
    }

    private static bool Words(RootCommand root, ReadOnlySpan<byte> input)
    {
        ParseResult parsed = root.Parse(FuzzText.Of(input).Split('\0'), CommandLine.Parsing);
        string? mistake = ParseMistake.Find(parsed);
        ThrowUnless(mistake is null or { Length: > 0 }, "a mistake is named");
        _ = ParseMistake.PathOf(parsed);
        return mistake is null;
    }
}
