using System.CommandLine;
using System.CommandLine.Parsing;
using System.Text;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Cli.Options;

/// <summary>What is to be different in a message that is published again, and where it goes.</summary>
internal sealed class EditOptions
{
    private readonly Option<TopicAddress?> _to = new("--to")
    {
        Description = "Publish to this topic instead of the same one; NAME/3 is its partition 3.",
        HelpName = "TOPIC",
        CustomParser = result =>
            ValueOptions.Parsed<TopicAddress?>(
                result,
                TopicAddress.TryParse(result.Tokens[0].Value, out TopicAddress address, out string problem),
                address,
                problem
            ),
    };

    private readonly Option<string?> _body = new("--body")
    {
        Description = "The new body; @FILE reads it from a file, @- from standard input. Default: the stored one.",
        HelpName = "TEXT|@FILE",
    };

    private readonly Option<string?> _key = new("--key", "-k")
    {
        Description = "The new key. Default: the stored one.",
    };

    private readonly Option<bool> _noKey = new("--no-key") { Description = "Publish without a key." };

    private readonly Option<string[]> _header = new("--header", "-H")
    {
        Description = "A header, in place of stored ones of its name; may be given again.",
        HelpName = "NAME=VALUE",
        CustomParser = result =>
        {
            string[] headers = [.. result.Tokens.Select(t => t.Value)];
            if (headers.FirstOrDefault(h => h.IndexOf('=', StringComparison.Ordinal) < 1) is { } wrong)
                result.AddError($"'{wrong}' is not a header of the form NAME=VALUE.");
            return headers;
        },
    };

    private readonly Option<string[]> _removeHeader = new("--remove-header")
    {
        Description = "Leave out the stored headers of this name; may be given again.",
        HelpName = "NAME",
    };

    private readonly Option<bool> _noHeaders = new("--no-headers") { Description = "Leave out all stored headers." };

    private readonly Option<TimeSpan?> _delay = ValueOptions.Duration("--delay");

    private readonly Option<TimeSpan?> _timeToLive = ValueOptions.Duration("--ttl");

    private readonly Option<string?> _messageId = new("--message-id")
    {
        Description = $"The new message's id, 1 to {ProtocolLimits.MaxMessageIdBytes} bytes. Default: none.",
        HelpName = "ID",
    };

    public EditOptions()
    {
        _delay.Description = "Deliver the message this much later, for example 5m; durable topics only.";
        _delay.Validators.Add(static result =>
        {
            if (TimeOf(result) > ProtocolLimits.LongestDelay)
                result.AddError($"--delay is at most {ProtocolLimits.LongestDelay.TotalDays}d.");
        });
        _timeToLive.Description = "How long the message may be delivered, for example 10s. Default: for ever.";
        _timeToLive.Validators.Add(static result =>
        {
            if (TimeOf(result) < TimeSpan.FromMilliseconds(1))
                result.AddError("--ttl is 1ms or longer.");
        });
        _messageId.Validators.Add(static result =>
        {
            if (result.GetValueOrDefault<string?>() is { } id && !BatchProperties.IsMessageId(id))
                result.AddError($"--message-id: an id has 1 to {ProtocolLimits.MaxMessageIdBytes} bytes of UTF-8.");
        });
    }

    /// <summary>Adds the options to a command.</summary>
    public void AddTo(Command command)
    {
        command.Add(_to);
        command.Add(_body);
        command.Add(_key);
        command.Add(_noKey);
        command.Add(_header);
        command.Add(_removeHeader);
        command.Add(_noHeaders);
        command.Add(_delay);
        command.Add(_timeToLive);
        command.Add(_messageId);
        command.Validators.Add(result =>
        {
            if (result.GetResult(_key) is not null && result.GetValue(_noKey))
                result.AddError("Give --key or --no-key, not both.");
        });
    }

    /// <summary>Where the message goes; null for the topic that it is from.</summary>
    public string? Target(BrokerCall call) => call.Get(_to)?.ToString();

    /// <summary>What is to be different.</summary>
    /// <exception cref="CommandException">The file of the body cannot be read.</exception>
    public MessageEdit Read(BrokerCall call)
    {
        MessageHeaders? headers = null;
        foreach (string text in call.Get(_header) ?? [])
        {
            int equals = text.IndexOf('=', StringComparison.Ordinal);
            (headers ??= []).Add(text[..equals], text[(equals + 1)..]);
        }
        return new MessageEdit
        {
            Key = call.Get(_key),
            RemoveKey = call.Get(_noKey),
            Body = call.Get(_body) is { } body ? ReadBody(body) : null,
            Headers = headers,
            RemoveHeaders = call.Get(_removeHeader) ?? [],
            RemoveAllHeaders = call.Get(_noHeaders),
            Delay = call.Get(_delay) ?? TimeSpan.Zero,
            TimeToLive = call.Get(_timeToLive),
            MessageId = call.Get(_messageId),
        };
    }

    /// <summary>The time that was given; null for a text that is none, which the parser has reported.</summary>
    private static TimeSpan? TimeOf(OptionResult result) =>
        result.Tokens is [{ Value: var text }] && DurationText.TryParse(text, out TimeSpan time) ? time : null;

    private static ReadOnlyMemory<byte> ReadBody(string text)
    {
        if (!text.StartsWith('@'))
            return Encoding.UTF8.GetBytes(text);
        using Stream source = text == "@-" ? Console.OpenStandardInput() : NamedFile.Open(text[1..], "--body");
        using var body = new MemoryStream();
        source.CopyTo(body);
        return body.ToArray();
    }
}
