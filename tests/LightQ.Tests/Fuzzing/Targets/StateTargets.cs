using System.Text;
using LightQ.Broker;
using LightQ.Broker.Catalog;
using LightQ.Broker.Delays;
using LightQ.Broker.Groups;
using LightQ.Broker.Producers;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.Storage;
using LightQ.Storage.State;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>What the broker keeps of itself: positions, groups, producers, the catalog, passwords, rights.</summary>
internal static class StateTargets
{
    private static readonly HashSet<Type> Refusals = [typeof(JournalFormatException)];
    private static readonly Guid Id = Guid.Parse("00112233-4455-6677-8899-aabbccddeeff");

    public static IEnumerable<FuzzTarget> All()
    {
        var group = new GroupState(
            100,
            3,
            200,
            [new RedeliveryRange(110, 5, 2, 0), new RedeliveryRange(130, 1, 1, 99)],
            true,
            SettleMode.Explicit
        );
        yield return new FuzzTarget
        {
            Name = "group-states",
            What = "a group's state, and written again",
            Parse = input => Group(100, input),
            Seeds = [group.Encode(), group.Encode()[..4], (group with { Unsettled = null }).Encode()],
            MaxLength = 256,
        };
        yield return new FuzzTarget
        {
            Name = "positions",
            What = "a record of groups' positions",
            Parse = Positions,
            Seeds = [Position("billing", 42, group.Encode()), [.. Position("a", 1, []), .. Position("b", -1, [])]],
            Refusals = Refusals,
            MaxLength = 512,
        };
        yield return new FuzzTarget
        {
            Name = "producers",
            What = "a snapshot of delayed batches and named producers",
            Parse = Producers,
            Seeds =
            [
                ProducerTable(),
                [.. Delays(), .. ProducerTable()],
                EarlierProducerTable(),
                [.. EarlierDelays(), .. ProducerTable()],
            ],
            Refusals = Refusals,
            MaxLength = 256,
            MaxAllocation = 512 * 1024, // 24 KiB a producer, of which 256 bytes name ten.
            GateExecutions = 50_000,
        };
        yield return new FuzzTarget
        {
            Name = "catalog",
            What = "a record of the catalog, and written again",
            Parse = Catalog,
            Seeds = [.. CatalogRecords().Select(r => r.Write())],
            Tokens = FuzzText.Bytes(
                "null",
                "{}",
                "[]",
                "\"\"",
                "-1",
                "1e999",
                "true",
                "\"Topic\":",
                "\"Name\":null",
                "\"Settings\":",
                "\"Delivery\":null",
                "\"Partitions\":",
                "\"Grants\":[null]",
                "\"Kind\":99",
                "\\ud800",
                "\"Durable\"",
                ",",
                "}"
            ),
            Refusals = Refusals,
            MaxLength = 1024,
            GateExecutions = 30_000,
        };
        yield return new FuzzTarget
        {
            Name = "password-hashes",
            What = "a kept password",
            Parse = Password,
            Seeds = FuzzText.Bytes(
                PasswordHash.Format(PasswordHash.Algorithm, 1, new byte[16], new byte[32]),
                PasswordHash.Format(PasswordHash.EarlierAlgorithm, 2, [1, 2, 3, 4, 5, 6, 7, 8], new byte[64])
            ),
            Tokens = FuzzText.Bytes(
                "$",
                "=",
                "==",
                "i=",
                "$pbkdf2-sha256$",
                "$pbkdf2-sha512$",
                "600000",
                "100000001",
                " ",
                "+1"
            ),
            Refusals = new HashSet<Type> { typeof(FormatException) },
            MaxLength = 256,
        };
        yield return new FuzzTarget
        {
            Name = "grants",
            What = "a right on topics",
            Parse = Grants,
            Seeds = FuzzText.Bytes("\u0001orders.*", "\u0002*", "\u0003orders", "\u0004"),
            Tokens = FuzzText.Bytes("*", "..", "**", "/", "\0", "\u202E"),
            Refusals = new HashSet<Type> { typeof(BrokerException) },
            MaxLength = 300,
        };
    }

    private static bool Group(long committed, ReadOnlySpan<byte> input)
    {
        var state = GroupState.Decode(committed, input);
        long last = state.Committed;
        foreach (RedeliveryRange range in state.Unsettled ?? [])
        {
            ThrowUnless(
                range.Count > 0 && range.First >= last && range.End > range.First && range.End <= state.Next,
                "what is not settled lies in order between the position and what comes next"
            );
            last = range.End;
        }
        var again = GroupState.Decode(committed, state.Encode());
        ThrowUnless(
            again.Next == state.Next
                && again.IsPaused == state.IsPaused
                && again.SettleMode == state.SettleMode
                && (again.Unsettled ?? []).SequenceEqual(state.Unsettled ?? []),
            "a state that is written reads back as the same"
        );
        return state.Unsettled is not null || state.Epoch is not null;
    }

    private static byte[] Position(string group, long offset, byte[] state)
    {
        var key = new OffsetKey(group, Id, 3);
        byte[] entry = new byte[OffsetEntry.SizeOf(key, state.Length)];
        OffsetEntry.Write(entry, key, offset, state);
        return entry;
    }

    private static bool Positions(ReadOnlySpan<byte> input)
    {
        bool isEmpty = input.IsEmpty;
        while (!input.IsEmpty)
        {
            (OffsetKey key, long offset, byte[] state) = OffsetEntry.Read(ref input);
            ThrowUnless(offset >= -1, "a position is an offset, or -1 for none");
            if (offset >= 0)
                Group(offset, state);
            byte[] entry = new byte[OffsetEntry.SizeOf(key, state.Length)];
            OffsetEntry.Write(entry, key, offset, state);
            ReadOnlySpan<byte> written = entry;
            ThrowUnless(
                OffsetEntry.Read(ref written) is var again
                    && again.Key == key
                    && again.Offset == offset
                    && again.State.AsSpan().SequenceEqual(state),
                "a position that is written reads back as the same"
            );
        }
        return !isEmpty;
    }

    private static byte[] ProducerTable()
    {
        var table = new ProducerTable();
        table.Open(7, 2).Remember(new ProducerState.Remembered(100, 1000, 5, 0xCAFE), 99);
        table.Open(7, 2).Remember(new ProducerState.Remembered(105, 1005, 1, 0xBEEF), 100);
        table.Open(8, 1);
        return table.Save();
    }

    /// <summary>Of one producer and one batch, without a checksum.</summary>
    private static byte[] EarlierProducerTable() =>
        [
            7,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            2,
            0,
            0,
            0,
            99,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            100,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            5,
            0,
            0,
            0,
            232,
            3,
            0,
            0,
            0,
            0,
            0,
            0,
        ];

    private static byte[] Delays()
    {
        var delays = new PendingDelays();
        delays.Add(10, 5000, 3, 800);
        delays.Add(13, 4000, 1, 120);
        delays.AddCopy(20, 5, 4000, 2, 160);
        return delays.Save();
    }

    /// <summary>As earlier versions wrote them, without their lengths.</summary>
    private static byte[] EarlierDelays() =>
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 3, 0, 0, 0];

    private static bool Producers(ReadOnlySpan<byte> input)
    {
        var table = new ProducerTable();
        table.Load(new PendingDelays().Load(input), static (_, _) => true);
        return !table.IsEmpty;
    }

    private static IEnumerable<CatalogRecord> CatalogRecords()
    {
        DateTimeOffset created = DateTimeOffset.UnixEpoch;
        TopicSettings settings = new TopicSettings
        {
            Kind = TopicKind.Durable,
            Partitions = 3,
            RetentionAge = TimeSpan.FromDays(7),
        }.Complete();
        yield return new CatalogRecord
        {
            Topic = new("orders", Id, created, settings, new("user", "$pbkdf2-sha256$i=1$AA$AA")),
        };
        yield return new CatalogRecord
        {
            Topic = new("old", Id, created, new TopicSettings().Complete(), new("user", null, [1, 2], [3, 4], 5)),
        };
        yield return new CatalogRecord { DeletedTopic = Id };
        yield return new CatalogRecord { Producer = new(Id, "p-1", 7, 64, 5) };
        yield return new CatalogRecord
        {
            User = new User(
                "anna",
                Id,
                created,
                "",
                2,
                [new Grant(Right.Publish, "orders.*"), new Grant(Right.Admin, "*")]
            ),
        };
        yield return new CatalogRecord { DeletedUser = "anna" };
        yield return new CatalogRecord { Admin = new AdminCredentials("$pbkdf2-sha256$i=1$AA$AA", 2) };
        yield return new CatalogRecord { EndedLogin = new EndedLogin(Id, created, created) };
        yield return new CatalogRecord
        {
            Token = new AccessToken("0123456789ab", "anna", new string('A', 64), created, created, "for tests"),
        };
        yield return new CatalogRecord { DeletedToken = "0123456789ab" };
    }

    private static bool Catalog(ReadOnlySpan<byte> input)
    {
        var record = CatalogRecord.Read(input);
        byte[] written = record.Write();
        ThrowUnless(
            CatalogRecord.Read(written).Write().AsSpan().SequenceEqual(written),
            "a record that is written reads back as the same"
        );
        if (record.Topic is { } topic)
            _ = topic.Credentials?.ToCredentials();
        if (record.User is { } user)
            _ = user.May(Right.Publish, "orders");
        return true;
    }

    private static bool Password(ReadOnlySpan<byte> input)
    {
        string text = FuzzText.Of(input);
        bool isValid = PasswordHash.IsValid(text);
        // A verification costs what its hash asks for: here those that ask for little.
        if (isValid && !text.Contains("00", StringComparison.Ordinal) && text.Split('$')[2].Length <= 4)
            ThrowUnless(!PasswordHash.Verify(text, "none of them"), "a hash from elsewhere is not every password's");
        _ = PasswordHash.IsCurrent(text);
        return isValid;
    }

    private static bool Grants(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty)
            return false;
        var grant = Grant.Create((Right)input[0], FuzzText.Of(input[1..]));
        ThrowUnless(
            grant.Pattern.Length > 0
                && (
                    grant.Pattern == Grant.Everything
                    || grant.Covers(Encoding.ASCII.GetString(Encoding.ASCII.GetBytes(grant.Pattern)))
                ),
            "a grant covers the name that it is made of"
        );
        return true;
    }
}
