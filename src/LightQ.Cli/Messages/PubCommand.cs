using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Cli.Messages;

/// <summary><c>lightq pub</c>: publishes a message, or the lines of a file or of standard input.</summary>
internal static class PubCommand
{
    public static Command Create()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Argument<string?> message = new("MESSAGE")
        {
            Description = "One message; - reads lines from standard input, which is the default.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        Option<string?> file = new("--file", "-f")
        {
            Description =
                "Publish each line of this file as a message; - is standard input. Lines end at LF and nowhere else.",
            HelpName = "FILE",
        };
        Option<bool> wholeFile = new("--whole-file") { Description = "Publish the file as one message." };
        Option<string?> key = new("--key", "-k") { Description = "The messages' key." };
        Option<bool> tombstone = new("--tombstone")
        {
            Description = "Publish a message without a body, which says that what --key stands for is gone.",
        };
        Option<string[]> header = Header();
        Option<double?> rate = ValueOptions.Number("--rate", 0.001);
        rate.Description = "At most this many messages a second.";
        Option<Durability> ack = ValueOptions.Choice(
            "--ack",
            Durability.Memory,
            Durability.Written,
            Durability.Fsync,
            Durability.Replicated
        );
        ack.Description = "Wait until messages are this safe. Default: what the topic says.";
        Option<string?> producerName = new("--producer-name")
        {
            Description = "Makes the producer idempotent: what is sent again after a reconnect is stored once.",
            HelpName = "NAME",
        };
        Option<TimeSpan?> timeToLive = Between(
            "--ttl",
            "How long the messages may be delivered, for example 10s.",
            TimeSpan.FromMilliseconds(1),
            TimeSpan.MaxValue,
            "1ms or longer"
        );
        Option<TimeSpan?> delay = Between(
            "--delay",
            "Deliver the messages this much later, for example 5m; durable topics only.",
            TimeSpan.Zero,
            ProtocolLimits.LongestDelay,
            $"at most {ProtocolLimits.LongestDelay.TotalDays}d"
        );
        Option<string?> messageId = new("--message-id")
        {
            Description =
                $"The message's id, 1 to {ProtocolLimits.MaxMessageIdBytes} bytes: a topic with --dedup-window stores "
                + $"one message of an id and says which is a duplicate.",
            HelpName = "ID",
        };
        messageId.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string?>() is { } id && !BatchProperties.IsMessageId(id))
                result.AddError($"--message-id: an id has 1 to {ProtocolLimits.MaxMessageIdBytes} bytes of UTF-8.");
        });
        Option<BatchCodec> compression = ValueOptions.Choice(
            "--compression",
            BatchCodec.None,
            BatchCodec.Brotli,
            BatchCodec.Deflate
        );
        compression.Description = "How batches are compressed. Default: none.";
        var broker = new BrokerChoice();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "pub",
            "Publish a message, or each line of a file or of standard input.",
            "lightq pub orders 'hello'",
            "lightq pub orders --file lines.txt --key 42 --header origin=import",
            "lightq pub orders --file lines.txt --ttl 10s --compression brotli",
            "lightq pub orders 'later' --delay 5m",
            "lightq pub payments \"100 EUR\" --message-id payment-4711",
            "lightq pub customers --key 42 --tombstone",
            "tail -f app.log | lightq pub logs -"
        )
        {
            topic,
            message,
            file,
            wholeFile,
            key,
            tombstone,
            header,
            rate,
            ack,
            producerName,
            timeToLive,
            delay,
            messageId,
            compression,
            output,
        };
        broker.AddTo(command);
        command.Validators.Add(result =>
        {
            if (result.GetValue(message) is not (null or "-") && result.GetResult(file) is not null)
                result.AddError("Give a MESSAGE or --file, not both.");
            if (result.GetValue(wholeFile) && result.GetResult(file) is null)
                result.AddError("--whole-file needs --file.");
            if (
                result.GetResult(messageId) is not null
                && (result.GetValue(message) is null or "-")
                && !result.GetValue(wholeFile)
            )
            {
                result.AddError("--message-id is for one message: give a MESSAGE, or --file with --whole-file.");
            }

            if (result.GetValue(tombstone) && result.GetResult(key) is null)
                result.AddError("--tombstone needs --key.");
            if (
                result.GetValue(tombstone)
                && (
                    result.GetValue(message) is not null
                    || result.GetResult(file) is not null
                    || result.GetResult(timeToLive) is not null
                    || result.GetResult(delay) is not null
                )
            )
            {
                result.AddError("--tombstone goes without MESSAGE, --file, --ttl and --delay.");
            }
        });
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                TopicAddress address = parsed.GetRequiredValue(topic);
                var job = new PublishJob
                {
                    Client = broker.Read(parsed),
                    Topic = address.Topic,
                    Producer = new ProducerOptions
                    {
                        Partition = address.Partition,
                        AckLevel = parsed.GetValue(ack),
                        Name = parsed.GetValue(producerName),
                        Compression = parsed.GetValue(compression),
                    },
                    Options = new PublishOptions
                    {
                        Delay = parsed.GetValue(delay) ?? TimeSpan.Zero,
                        TimeToLive = parsed.GetValue(timeToLive),
                        MessageId = parsed.GetValue(messageId),
                    },
                    Message = parsed.GetValue(message) is { } text and not "-" ? text : null,
                    File = parsed.GetValue(file) is { } path and not "-" ? path : null,
                    WholeFile = parsed.GetValue(wholeFile),
                    Key = parsed.GetValue(key),
                    IsTombstone = parsed.GetValue(tombstone),
                    Headers = HeadersOf(parsed.GetValue(header)),
                    Rate = parsed.GetValue(rate),
                    Output = parsed.GetValue(output),
                };
                return job.RunAsync(cancellationToken);
            }
        );
        return command;
    }

    private static Option<TimeSpan?> Between(
        string name,
        string description,
        TimeSpan least,
        TimeSpan most,
        string allowed
    )
    {
        Option<TimeSpan?> option = ValueOptions.Duration(name);
        option.Description = description;
        option.Validators.Add(result =>
        {
            // The parser has reported a text that is no duration at all.
            if (
                result.Tokens is [{ Value: var text }]
                && DurationText.TryParse(text, out TimeSpan time)
                && (time < least || time > most)
            )
            {
                result.AddError($"{name}: the time is {allowed}.");
            }
        });
        return option;
    }

    private static Option<string[]> Header() =>
        new("--header", "-H")
        {
            Description = "A header of every message; may be given again.",
            HelpName = "NAME=VALUE",
            CustomParser = result =>
            {
                string[] headers = [.. result.Tokens.Select(t => t.Value)];
                if (headers.FirstOrDefault(h => h.IndexOf('=', StringComparison.Ordinal) < 1) is { } wrong)
                    result.AddError($"'{wrong}' is not a header of the form NAME=VALUE.");
                return headers;
            },
        };

    private static MessageHeaders? HeadersOf(string[]? texts)
    {
        if (texts is null or [])
            return null;
        var headers = new MessageHeaders();
        foreach (string text in texts)
        {
            int equals = text.IndexOf('=', StringComparison.Ordinal);
            headers.Add(text[..equals], text[(equals + 1)..]);
        }
        return headers;
    }
}
