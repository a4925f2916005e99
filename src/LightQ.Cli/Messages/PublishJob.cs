using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Messages;

/// <summary>What <c>pub</c> was asked to do.</summary>
internal sealed record PublishJob
{
    private const int ProgressMilliseconds = 1000;

    public required LightQClientOptions Client { get; init; }

    public required string Topic { get; init; }

    public required ProducerOptions Producer { get; init; }

    /// <summary>When messages are delivered.</summary>
    public PublishOptions Options { get; init; }

    /// <summary>One message; null to read lines.</summary>
    public string? Message { get; init; }

    /// <summary>The file to read; null for standard input.</summary>
    public string? File { get; init; }

    /// <summary>Whether the input is one message.</summary>
    public bool WholeFile { get; init; }

    public string? Key { get; init; }

    /// <summary>Whether it is a message without a body, for the key.</summary>
    public bool IsTombstone { get; init; }

    public MessageHeaders? Headers { get; init; }

    /// <summary>Messages a second; null for no limit.</summary>
    public double? Rate { get; init; }

    public OutputFormat Output { get; init; }

    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        await using Stream? source = Message is null && !IsTombstone ? Open() : null;
        await using var client = new LightQClient(Client);
        await using Producer producer = await client.CreateProducerAsync(Topic, Producer, cancellationToken);
        long start = Stopwatch.GetTimestamp();
        long messages = 1;
        long bytes;
        PublishAck? ack = null;
        if (IsTombstone)
        {
            ack = await producer.PublishTombstoneAsync(Key, Headers, cancellationToken);
            bytes = 0;
        }
        else if (source is null || WholeFile)
        {
            byte[] body = source is null
                ? Encoding.UTF8.GetBytes(Message!)
                : await ReadAllAsync(source, cancellationToken);
            ack = await producer.PublishAsync(body, Options, Key, Headers, cancellationToken);
            bytes = body.Length;
        }
        else
        {
            (messages, bytes) = await PublishLinesAsync(producer, source, cancellationToken);
        }
        Report(messages, bytes, ack, Stopwatch.GetElapsedTime(start));
        if (Options.MessageId is not null && await HasNoWindowAsync(client, cancellationToken))
        {
            new CommandConsole().Note(
                $"The topic {Topic} remembers no ids: messages with the same id are all stored. "
                    + $"lightq topic ensure {Topic} --dedup-window 2m changes that."
            );
        }
        return ExitCode.Ok;
    }

    /// <summary>Whether the topic ignores message ids; false where that is not known.</summary>
    private async Task<bool> HasNoWindowAsync(LightQClient client, CancellationToken cancellationToken)
    {
        try
        {
            TopicSpec topic = (await client.Topics.GetAsync(Topic, cancellationToken)).Spec;
            return topic.DedupWindow.GetValueOrDefault() == TimeSpan.Zero;
        }
        catch (LightQException)
        {
            // The message is published: a user that may not see topics, or reaches no control port, gets no advice.
            return false;
        }
    }

    private static async Task<byte[]> ReadAllAsync(Stream source, CancellationToken cancellationToken)
    {
        using var content = new MemoryStream();
        await source.CopyToAsync(content, cancellationToken);
        return content.ToArray();
    }

    private async Task<(long Messages, long Bytes)> PublishLinesAsync(
        Producer producer,
        Stream source,
        CancellationToken cancellationToken
    )
    {
        var publisher = new LinePublisher(
            producer,
            Options,
            Key,
            Headers,
            Rate is { } rate ? new PublishPace(rate) : null
        );
        var console = new CommandConsole();
        await using var progress = new Timer(
            _ => console.Progress($"Published {Plural.Of(publisher.Messages, "message")} ..."),
            null,
            Console.IsErrorRedirected ? Timeout.Infinite : ProgressMilliseconds,
            ProgressMilliseconds
        );
        try
        {
            await publisher.PublishAsync(source, cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            throw new CommandException(
                ExitCode.Failed,
                $"Interrupted after {Plural.Of(publisher.Messages, "message")}; the last may not have been stored."
            );
        }
        finally
        {
            console.EndProgress();
        }
        return (publisher.Messages, publisher.Bytes);
    }

    private Stream Open() => File is null ? Console.OpenStandardInput() : NamedFile.Open(File, "--file");

    /// <summary>Says what was published, and of one message where it is, which its ack knows.</summary>
    private void Report(long messages, long bytes, PublishAck? ack, TimeSpan elapsed)
    {
        var view = new PublishView(Topic, messages, bytes, elapsed.TotalSeconds)
        {
            Partition = ack?.Partition,
            Offset = ack is { Offset: >= 0 } known ? known.Offset : null,
            MessageId = Options.MessageId,
            Duplicate = ack is { IsDuplicate: true } ? true : null,
        };
        if (Output == OutputFormat.Json)
        {
            Console.Out.WriteLine(JsonSerializer.Serialize(view, MessagesJson.Default.PublishView));
        }
        else if (ack is { IsDuplicate: true } stored)
        {
            string place =
                stored.Offset < 0
                    ? "an offset that is not known any more"
                    : FormattableString.Invariant($"offset {stored.Offset} of partition {stored.Partition}");
            Console.Out.WriteLine(
                $"A duplicate: a message with the id {Options.MessageId} is stored already, at {place}."
            );
        }
        else
        {
            Console.Out.WriteLine(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"Published {Plural.Of(messages, "message")}, {Plural.Of(bytes, "byte")}, in "
                        + $"{elapsed.TotalSeconds:F2} s."
                )
            );
        }
    }
}
