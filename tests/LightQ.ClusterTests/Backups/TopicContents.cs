using System.Globalization;
using System.Text;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.IntegrationTests;
using LightQ.Server;
using Xunit;

namespace LightQ.ClusterTests.Backups;

/// <summary>Puts messages and a group into a topic, and compares what another broker has of it.</summary>
internal static class TopicContents
{
    public const string Group = "billing";

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static LightQClient Connect(LightQServer server) => new(LightQClientOptions.Parse(server.ConnectionString));

    /// <summary>Numbered messages with keys and headers, of a named producer.</summary>
    public static async Task PublishAsync(
        LightQClient client,
        string topic,
        int first,
        int count,
        int? partition = null
    )
    {
        await using Producer producer = await client.CreateProducerAsync(
            topic,
            new ProducerOptions { Name = "shop", Partition = partition },
            Cancelled
        );
        for (int i = first; i < first + count; i++)
            await PublishAsync(producer, i);
    }

    /// <summary>One of them.</summary>
    public static async Task PublishAsync(Producer producer, int number)
    {
        string text = number.ToString(CultureInfo.InvariantCulture);
        await producer.PublishAsync(
            Encoding.UTF8.GetBytes(text),
            key: $"key {number % 17}",
            headers: new MessageHeaders { { "number", text } },
            cancellationToken: Cancelled
        );
    }

    /// <summary>A member of the group takes so many messages, and completes those with even numbers.</summary>
    public static async Task<List<int>> WorkAsync(LightQClient client, string topic, int count)
    {
        List<int> taken = [];
        var options = new ConsumeOptions
        {
            Group = Group,
            Start = StartPosition.Earliest,
            SettleMode = SettleMode.Explicit,
        };
        await foreach (Message message in client.ConsumeAsync(topic, options, Cancelled))
        {
            int number = NumberOf(message);
            taken.Add(number);
            if (number % 2 == 0)
                Assert.Equal(SettleOutcome.Done, await message.CompleteAsync(Cancelled));
            if (taken.Count == count)
                break;
        }
        return taken;
    }

    /// <summary>Returns when what the group has settled is stored, where its partitions are led.</summary>
    public static Task StoreAsync(string topic, params LightQServer[] servers) =>
        Task.Run(
            () =>
            {
                foreach (LightQServer server in servers)
                {
                    Topic found = server.Broker.GetTopic(topic);
                    foreach (Partition partition in found.Partitions)
                        server.Broker.Groups.Keep(partition);
                    server.Broker.Groups.Flush(found);
                }
            },
            Cancelled
        );

    /// <summary>So many messages, each by its place, with all that belongs to it.</summary>
    public static Task<SortedDictionary<(int Partition, long Offset), string>> ReadAsync(
        LightQClient client,
        string topic,
        int count
    ) => ReadAsync(client, topic, () => count);

    /// <summary>Likewise; how many is asked for behind each message.</summary>
    public static async Task<SortedDictionary<(int Partition, long Offset), string>> ReadAsync(
        LightQClient client,
        string topic,
        Func<int> count
    )
    {
        var found = new SortedDictionary<(int, long), string>();
        await foreach (
            Message message in client
                .ConsumeAsync(topic, new() { Start = StartPosition.Earliest })
                .WithCancellation(Cancelled)
        )
        {
            Assert.True(message.TryGetHeader("number", out ReadOnlySpan<byte> header));
            found.Add(
                (message.Partition, message.Offset),
                $"{message.GetText()} {Encoding.UTF8.GetString(message.Key.Span)} {Encoding.UTF8.GetString(header)} "
                    + $"{message.Timestamp:O} {message.AppendTime:O}"
            );
            if (found.Count == count())
                break;
        }
        return found;
    }

    /// <summary>Waits until all partitions are led somewhere among the servers.</summary>
    public static Task LedAsync(string topic, params LightQServer[] servers) =>
        Eventually.TrueAsync(
            () =>
                servers[0].Broker.GetTopic(topic) is { } found
                && found.Partitions.All(p =>
                    servers.Any(s => s.Broker.GetTopic(topic).Partitions[(int)p.Index].Refusal is null)
                ),
            Patience,
            () => string.Join("; ", servers.Select(s => s.Broker.GetTopic(topic).Partitions[0].Refusal?.Reason))
        );

    private static int NumberOf(Message message) => int.Parse(message.GetText(), CultureInfo.InvariantCulture);
}
