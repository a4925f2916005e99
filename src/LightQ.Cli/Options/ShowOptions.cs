using System.CommandLine;
using LightQ.Cli.Output;

namespace LightQ.Cli.Options;

/// <summary>How much of stored messages is shown, and how.</summary>
internal sealed class ShowOptions
{
    private const int DefaultBytes = 64 * 1024,
        MostBytes = 1024 * 1024;

    private readonly Option<BodyFormat> _format = ValueOptions.Choice(
        "--format",
        BodyFormat.Text,
        BodyFormat.Json,
        BodyFormat.Hex
    );

    private readonly Option<long?> _maxBytes = ValueOptions.Size("--max-bytes");

    public ShowOptions()
    {
        _format.Description =
            "text, the default: a line about each message, its headers, and the body as text; json: one object a line; "
            + "hex: the body's bytes.";
        _maxBytes.Description = "At most this much of each body, up to 1MiB. Default: 64KiB.";
        _maxBytes.Validators.Add(static result =>
        {
            // The parser has reported a text that is no size at all.
            if (result.Tokens is [{ Value: var text }] && SizeText.TryParse(text, out long bytes) && bytes > MostBytes)
                result.AddError("--max-bytes is at most 1MiB.");
        });
    }

    /// <summary>Adds the options to a command.</summary>
    public void AddTo(Command command)
    {
        command.Add(_format);
        command.Add(_maxBytes);
    }

    /// <summary>How much of each body.</summary>
    public int MaxBodyBytes(BrokerCall call) => (int)(call.Get(_maxBytes) ?? DefaultBytes);

    /// <summary>What writes them.</summary>
    public StoredWriter Writer(BrokerCall call) => new(call.IsJson ? BodyFormat.Json : call.Get(_format));
}
