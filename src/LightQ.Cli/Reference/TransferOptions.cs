using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Reference;

/// <summary>The options that <c>producer</c> and <c>consumer</c> share.</summary>
internal sealed class TransferOptions
{
    private const long UsualMessages = 10_000_000;

    private readonly Argument<string> _topic = new("TOPIC")
    {
        Description = "The topics' name without the number. Default: test.",
        DefaultValueFactory = _ => TransferTopics.UsualName,
    };
    private readonly Option<long?> _messages = ValueOptions.Number("--messages", 1L, "-m");
    private readonly Option<int?> _topics = Topics();
    private readonly Option<TransferStyle> _style = ValueOptions.Choice(
        "--style",
        TransferStyle.LightQ,
        TransferStyle.Myq
    );
    private readonly BrokerChoice _broker = new();
    private readonly Option<OutputFormat> _output = CommonOptions.Output();

    public TransferOptions()
    {
        _messages.Description = "Messages of each topic. Default: 10,000,000.";
        _style.Description = "Whose wording: that of the document of LightQ's ancestor, the default, or of myq.";
    }

    /// <summary>How many separate topics.</summary>
    public static Option<int?> Topics()
    {
        Option<int?> topics = ValueOptions.Number("--topics", 1, "-n");
        topics.Description = "The separate topics NAME_1 to NAME_N.";
        return topics;
    }

    public void AddTo(Command command)
    {
        command.Add(_topic);
        foreach (Option option in new Option[] { _messages, _topics, _style, _output })
            command.Add(option);
        _broker.AddTo(command);
    }

    public TransferSettings Read(ParseResult parsed) =>
        new()
        {
            Client = _broker.Read(parsed),
            Topics = TransferTopics.Of(parsed.GetRequiredValue(_topic), parsed.GetValue(_topics) ?? 1),
            Messages = parsed.GetValue(_messages) ?? UsualMessages,
            Style = parsed.GetValue(_style),
            Output = parsed.GetValue(_output),
        };
}
