using System.Text;
using Grpc.Core;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server.Audit;
using Xunit;
using LetterContent = LightQ.Client.Administration.LetterContent;
using LetterOutcome = LightQ.Client.Administration.LetterOutcome;
using LetterResult = LightQ.Client.Administration.LetterResult;
using MessageEdit = LightQ.Client.Administration.MessageEdit;
using SettleKind = LightQ.Protocol.Control.SettleKind;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Messages;

/// <summary>The dead letters of a group, one by one.</summary>
public sealed class DeadLettersTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Letters_are_listed_with_what_they_are_about()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server);
        Assert.Empty((await PageAsync(client)).Letters);
        await DeadLetterAsync(server, "billing", 5);
        await DeadLetterAsync(server, "shipping", 2);

        LetterPage page = await PageAsync(client, new() { PageSize = 2, MaxBodyBytes = 4 });
        Assert.Equal(("orders.dead", false, 2L), (page.DeadLetterTopic, page.IsLast, page.NextOffset));
        DeadLetterInfo letter = page.Letters[1];
        Assert.Equal((1L, 0, 1L, "no 1", 1), Facts(letter));
        Assert.Equal(("body", 6L), (Encoding.UTF8.GetString(letter.Body.Span), letter.BodySize));
        Assert.Equal("key 1", Encoding.UTF8.GetString(letter.Key!.Value.Span));
        Assert.Equal([("n", "1")], letter.Headers.Select(h => (h.Key, Encoding.UTF8.GetString(h.Value.Span))));
        Assert.Equal((false, true, LetterContent.Whole), (letter.IsSettled, letter.HasOriginal, letter.Content));
        Assert.InRange(letter.Time!.Value, DateTimeOffset.UtcNow.AddHours(-1), DateTimeOffset.UtcNow.AddHours(1));

        Assert.Equal([0L, 1, 2, 3, 4], await OffsetsAsync(client, new() { PageSize = 2 }));
        Assert.Equal([3L, 4], await OffsetsAsync(client, new() { StartOffset = 3 }));
        Assert.Equal([5L, 6], await OffsetsAsync(client, new(), "shipping"));
        Assert.Empty(await OffsetsAsync(client, new() { StartOffset = long.MaxValue }));
    }

    [Fact]
    public async Task Letters_are_redriven_and_deleted_one_by_one_and_a_redrive_of_all_takes_the_rest()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using (LightQClient client = await ClientAsync(server))
        {
            await DeadLetterAsync(server, "billing", 6);
            Assert.Equal(
                [
                    new LetterResult(4, LetterOutcome.Done),
                    new LetterResult(99, LetterOutcome.NotFound),
                    new LetterResult(1, LetterOutcome.Done),
                ],
                await client.DeadLetters.DeleteAsync("orders", "billing", [4, 99, 1], Cancelled)
            );
            Assert.Equal(
                [new LetterResult(2, LetterOutcome.Done), new LetterResult(4, LetterOutcome.SettledBefore)],
                await client.DeadLetters.RedriveAsync("orders", "billing", [2, 4], Cancelled)
            );
            Assert.Equal([0L, 3, 5], await OffsetsAsync(client, new()));
            Assert.Equal(
                [(0L, false), (1, true), (2, true), (3, false), (4, true), (5, false)],
                (await PageAsync(client, new() { IncludeSettled = true })).Letters.Select(l => (l.Offset, l.IsSettled))
            );
        }
        await server.RestartAsync();
        await using var again = new LightQClient(server.ConnectionString);
        Assert.Equal([0L, 3, 5], await OffsetsAsync(again, new()));
        Assert.Equal(new RedriveResult(3, 0), await again.Groups.RedriveAsync("orders", "billing", Cancelled));
        Assert.Equal(
            ["body 0", "body 2", "body 3", "body 5"],
            (await SettleAsync(server, "billing", 4, SettleKind.Complete)).Order()
        );
        Assert.Empty(await OffsetsAsync(again, new()));
        Assert.Equal(new RedriveResult(0, 0), await again.Groups.RedriveAsync("orders", "billing", Cancelled));
    }

    [Fact]
    public async Task A_message_that_only_looks_like_a_letter_is_none()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server);
        await DeadLetterAsync(server, "billing", 1);
        await foreach (
            Message letter in client.ConsumeAsync("orders.dead", new() { Start = StartPosition.Earliest }, Cancelled)
        )
        {
            var headers = new LightQ.Client.MessageHeaders();
            foreach (HeaderView header in letter.Headers)
                headers.Add(Encoding.UTF8.GetString(header.Name), header.Value);
            await client.PublishAsync("orders.dead", letter.Body, headers: headers, cancellationToken: Cancelled);
            break;
        }

        Assert.Equal([0L], await OffsetsAsync(client, new() { IncludeSettled = true }));
        Assert.Equal(
            [new LetterResult(1, LetterOutcome.NotFound)],
            await client.DeadLetters.RedriveAsync("orders", "billing", [1], Cancelled)
        );
        Assert.Equal(new RedriveResult(1, 0), await client.Groups.RedriveAsync("orders", "billing", Cancelled));
    }

    [Fact]
    public async Task What_cannot_be_redriven_says_why_and_waits_on()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server);
        await DeadLetterAsync(server, "billing", 3);
        // The group has the message again, and gives it up another time: of the two letters one can be redriven.
        await client.DeadLetters.RedriveAsync("orders", "billing", [1], Cancelled);
        await SettleAsync(server, "billing", 1, SettleKind.DeadLetter);
        await Eventually.TrueAsync(
            async () => (await OffsetsAsync(client, new())) is [0, 2, 3],
            Patience,
            () => "the second letter does not come"
        );
        await client.Groups.ResetAsync("orders", "billing", StartPosition.Offset(1), cancellationToken: Cancelled);
        Assert.Equal(
            [new LetterResult(3, LetterOutcome.OriginalUnsettled)],
            await client.DeadLetters.RedriveAsync("orders", "billing", [3], Cancelled)
        );
        await client.Topics.TruncateAsync("orders", 3, cancellationToken: Cancelled);
        Assert.Equal(
            [new LetterResult(2, LetterOutcome.OriginalGone)],
            await client.DeadLetters.RedriveAsync("orders", "billing", [2], Cancelled)
        );
        Assert.All((await PageAsync(client)).Letters, letter => Assert.False(letter.HasOriginal));
        Assert.Equal([0L, 2, 3], await OffsetsAsync(client, new()));
        RepublishedLetter republished = await client.DeadLetters.RepublishAsync(
            "orders",
            "billing",
            2,
            cancellationToken: Cancelled
        );
        Assert.Equal((3L, LetterOutcome.Done), (republished.Published!.Offset, republished.Outcome));
        await client.Topics.DeleteAsync("orders.dead", Cancelled);
        Assert.Empty(await OffsetsAsync(client, new()));
        Assert.Equal(
            [new LetterResult(0, LetterOutcome.NotFound)],
            await client.DeadLetters.RedriveAsync("orders", "billing", [0], Cancelled)
        );
    }

    [Fact]
    public async Task A_letter_is_published_again_edited_and_settled()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server);
        await DeadLetterAsync(server, "billing", 3);

        RepublishedLetter kept = await client.DeadLetters.RepublishAsync(
            "orders",
            "billing",
            1,
            settle: false,
            cancellationToken: Cancelled
        );
        Assert.Equal((3L, LetterOutcome.None, null), (kept.Published!.Offset, kept.Outcome, kept.Problem));
        RepublishedLetter settled = await client.DeadLetters.RepublishAsync(
            "orders",
            "billing",
            1,
            new MessageEdit
            {
                Body = "mended"u8.ToArray(),
                Headers = new MessageHeaders { { "by", "alice" } },
            },
            cancellationToken: Cancelled
        );
        Assert.Equal((4L, LetterOutcome.Done, null), (settled.Published!.Offset, settled.Outcome, settled.Problem));
        Assert.Equal([0L, 2], await OffsetsAsync(client, new()));
        RepublishedLetter twice = await client.DeadLetters.RepublishAsync(
            "orders",
            "billing",
            1,
            cancellationToken: Cancelled
        );
        Assert.Equal((null, LetterOutcome.SettledBefore), (twice.Published, twice.Outcome));

        var found = new List<string>();
        await foreach (
            StoredMessage message in client.Messages.BrowseAsync(
                "orders",
                new BrowseOptions { Start = StartPosition.Offset(3) },
                Cancelled
            )
        )
        {
            string headers = string.Join(
                ',',
                message.Headers.Select(h => $"{h.Key}={Encoding.UTF8.GetString(h.Value.Span)}")
            );
            found.Add(
                $"{Encoding.UTF8.GetString(message.Key!.Value.Span)} {Encoding.UTF8.GetString(message.Body.Span)} {headers}"
            );
        }
        Assert.Equal(["key 1 body 1 n=1", "key 1 mended n=1,by=alice"], found);
        Assert.Equal(["body 1", "mended"], await SettleAsync(server, "billing", 2, SettleKind.Complete));

        await server.Server.StopAsync();
        var lines = new List<AuditLine>();
        Assert.Null(AuditVerifier.Verify(server.Directory, read: lines.Add).Finding);
        Assert.Equal(
            [
                "letter-republished letter 1 as orders/0/3",
                "letter-republished letter 1 as orders/0/4",
                "letters-deleted letters 1",
            ],
            lines.Where(line => line.Subject == "orders/billing").Select(line => $"{line.Event} {line.Detail}")
        );
    }

    [Fact]
    public async Task A_letter_of_a_compressed_batch_shows_its_message()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server);
        await using (
            Producer producer = await client.CreateProducerAsync(
                "orders",
                new ProducerOptions { Compression = LightQ.Client.BatchCodec.Brotli },
                Cancelled
            )
        )
        {
            await Task.WhenAll(
                Enumerable
                    .Range(0, 10)
                    .Select(i =>
                        producer
                            .PublishAsync(
                                Encoding.UTF8.GetBytes($"body {i}, which is as long as the others"),
                                key: $"key {i}",
                                cancellationToken: Cancelled
                            )
                            .AsTask()
                    )
            );
        }
        await DeadLetterAsync(server, "billing", 10, publish: false);
        LetterPage page = await PageAsync(client);
        Assert.Equal(
            Enumerable
                .Range(0, 10)
                .Select(i => ($"key {i}", $"body {i}, which is as long as the others", LetterContent.Whole)),
            page.Letters.Select(l =>
                (Encoding.UTF8.GetString(l.Key!.Value.Span), Encoding.UTF8.GetString(l.Body.Span), l.Content)
            )
        );
        RepublishedLetter republished = await client.DeadLetters.RepublishAsync(
            "orders",
            "billing",
            7,
            cancellationToken: Cancelled
        );
        StoredMessage copy = (
            await client.Messages.BrowsePageAsync("orders", new() { Last = 1 }, cancellationToken: Cancelled)
        ).Messages[0];
        Assert.Equal(republished.Published!.Offset, copy.Offset);
        Assert.Equal("body 7, which is as long as the others", Encoding.UTF8.GetString(copy.Body.Span));
        Assert.Empty(copy.Headers);
    }

    [Fact]
    public async Task What_is_outside_its_range_is_rejected()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient client = await ClientAsync(server);
        await DeadLetterAsync(server, "billing", 1);
        foreach (
            (Func<Task> call, string problem) in new (Func<Task>, string)[]
            {
                (() => ListAsync(server, new() { StartOffset = -1 }), "start_offset is -1; allowed: 0 or more."),
                (() => ListAsync(server, new() { MaxLetters = 1001 }), "max_letters is 1001"),
                (() => ListAsync(server, new() { MaxBodyBytes = 1024 * 1024 + 1 }), "max_body_bytes is 1048577"),
                (() => DeleteAsync(server), "offsets has 0 entries; allowed: 1 to 1000."),
                (() => DeleteAsync(server, -1), "offsets has -1; allowed: 0 or more."),
                (
                    () => DeleteAsync(server, [.. Enumerable.Range(0, 1001).Select(i => (long)i)]),
                    "offsets has 1001 entries"
                ),
                (
                    () => client.DeadLetters.RepublishAsync("orders", "billing", 7, cancellationToken: Cancelled),
                    "there is no letter of the group 'billing' about a message of 'orders' at that offset"
                ),
            }
        )
        {
            Exception error = await Assert.ThrowsAnyAsync<Exception>(call);
            Assert.Contains(
                problem,
                error is RpcException told ? told.Status.Detail : error.Message,
                StringComparison.Ordinal
            );
        }
        LightQException unknown = await Assert.ThrowsAsync<LightQException>(() =>
            client.DeadLetters.ListPageAsync("orders", "nobody", cancellationToken: Cancelled)
        );
        Assert.Equal(LightQ.Client.ErrorCode.UnknownGroup, unknown.Code);
        LightQException elsewhere = await Assert.ThrowsAsync<LightQException>(() =>
            client.DeadLetters.RepublishAsync("orders", "billing", 0, target: "nowhere", cancellationToken: Cancelled)
        );
        Assert.Equal(LightQ.Client.ErrorCode.UnknownTopic, elsewhere.Code);
        Assert.Equal([0L], await OffsetsAsync(client, new()));
    }

    private static async Task<LightQClient> ClientAsync(TestServer server)
    {
        var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        Assert.Empty((await FetchAsync(server, "billing", 1)).Messages);
        return client;
    }

    /// <summary>Has a group dead-letter so many messages, and waits until the letters are there.</summary>
    private static async Task DeadLetterAsync(TestServer server, string group, int count, bool publish = true)
    {
        for (int i = 0; publish && i < count; i++)
        {
            PublishedMessage message = PublishStream.Text($"body {i}", $"key {i}");
            message.Headers.Add(
                new MessageHeader { Name = "n", Value = Google.Protobuf.ByteString.CopyFromUtf8($"{i}") }
            );
            await server.Control.CallAsync<PublishRequest, PublishResponse>(
                "Publish",
                new() { Topic = "orders", Messages = { message } }
            );
        }
        long before = server.Broker.TryGetTopic("orders.dead", out var dead)
            ? dead.Partitions[0].Log.ReadableOffset
            : 0;
        await SettleAsync(server, group, count, SettleKind.DeadLetter);
        await Eventually.TrueAsync(
            () =>
                server.Broker.TryGetTopic("orders.dead", out dead)
                && dead.Partitions[0].Log.ReadableOffset == before + count
                && server.Broker.Groups.Find(server.Broker.GetTopic("orders"), group)[0].Committed >= count,
            Patience,
            () => "the letters do not come"
        );
    }

    private static async Task<IReadOnlyList<string>> SettleAsync(
        TestServer server,
        string group,
        int count,
        SettleKind kind
    )
    {
        var bodies = new List<string>();
        while (bodies.Count < count)
        {
            FetchResponse fetched = await FetchAsync(server, group, count - bodies.Count, TimeSpan.FromSeconds(30));
            Assert.NotEmpty(fetched.Messages);
            await server.Control.CallAsync<SettleRequest, SettleResponse>(
                "Settle",
                new()
                {
                    Topic = "orders",
                    Settlements =
                    {
                        fetched.Messages.Select(m => new FetchedSettlement
                        {
                            Token = m.SettleToken,
                            Kind = kind,
                            Reason = kind == SettleKind.Complete ? "" : $"no {m.Offset}",
                        }),
                    },
                }
            );
            bodies.AddRange(fetched.Messages.Select(m => m.Body.ToStringUtf8()));
        }
        return bodies;
    }

    private static Task<FetchResponse> FetchAsync(
        TestServer server,
        string group,
        int count,
        TimeSpan wait = default
    ) =>
        server.Control.CallAsync<FetchRequest, FetchResponse>(
            "Fetch",
            new()
            {
                Topic = "orders",
                Group = group,
                MaxMessages = (uint)count,
                Wait = Google.Protobuf.WellKnownTypes.Duration.FromTimeSpan(wait),
            }
        );

    private static Task<LetterPage> PageAsync(
        LightQClient client,
        LetterListOptions? options = null,
        string group = "billing"
    ) => client.DeadLetters.ListPageAsync("orders", group, options, Cancelled);

    private static async Task<IReadOnlyList<long>> OffsetsAsync(
        LightQClient client,
        LetterListOptions options,
        string group = "billing"
    )
    {
        var offsets = new List<long>();
        await foreach (DeadLetterInfo letter in client.DeadLetters.ListAsync("orders", group, options, Cancelled))
            offsets.Add(letter.Offset);
        return offsets;
    }

    private static (long, int, long, string, int) Facts(DeadLetterInfo letter) =>
        (letter.Offset, letter.Partition, letter.OriginalOffset, letter.Reason, letter.Deliveries);

    private static Task<ListLettersResponse> ListAsync(TestServer server, ListLettersRequest request)
    {
        (request.Topic, request.Group) = ("orders", "billing");
        return server.Control.CallAsync<ListLettersRequest, ListLettersResponse>("ListLetters", request);
    }

    private static Task<DeleteLettersResponse> DeleteAsync(TestServer server, params long[] offsets) =>
        server.Control.CallAsync<DeleteLettersRequest, DeleteLettersResponse>(
            "DeleteLetters",
            new()
            {
                Topic = "orders",
                Group = "billing",
                Offsets = { offsets },
            }
        );
}
