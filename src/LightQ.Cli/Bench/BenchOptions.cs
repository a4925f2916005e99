using System.CommandLine;
using LightQ.Bench;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Bench;

/// <summary>The options that all benches share.</summary>
internal sealed class BenchOptions
{
    private readonly Option<TopicKind> _kind = ValueOptions.Choice("--kind", TopicKind.Transient, TopicKind.Durable);
    private readonly Option<Durability> _ack = ValueOptions.Choice(
        "--ack",
        Durability.Memory,
        Durability.Written,
        Durability.Fsync
    );
    private readonly Option<int?> _pairs = ValueOptions.Number("--pairs", 1);
    private readonly BrokerChoice _broker = new(
        new Option<string?>("--server", "-sa")
        {
            Description = "Measure this broker instead of starting one.",
            HelpName = "URL",
        }
    );
    private readonly Option<string?> _data = new("--data")
    {
        Description = "Where the broker that is started keeps its data. Default: the temporary directory.",
        HelpName = "DIR",
    };
    private readonly Option<string?> _against = new("--against")
    {
        Description = "A second yardstick: nats, either --nats-url or a nats-server from the PATH.",
    };
    private readonly Option<string?> _natsUrl = new("--nats-url")
    {
        Description = "A NATS server that runs already, such as nats://127.0.0.1:4222.",
        HelpName = "URL",
    };

    public BenchOptions()
    {
        _against.AcceptOnlyFromAmong("nats");
        _kind.Description = "Which topics. Default: transient.";
        _ack.Description = "The ack level. Default: memory for transient, fsync for durable topics.";
        _pairs.Description = $"How often yardstick and product run, alternately. Default {BenchSettings.UsualPairs}.";
    }

    public Option<OutputFormat> Output { get; } = CommonOptions.Output();

    public Option<string?> Report { get; } =
        new("--report") { Description = "Also write a page with plots.", HelpName = "FILE.html" };

    public void AddTo(Command command)
    {
        foreach (Option option in new Option[] { _kind, _ack, _pairs, _data, _against, _natsUrl, Output, Report })
        {
            command.Add(option);
        }
        _broker.AddTo(command);
    }

    public BenchSettings Read(ParseResult parsed) =>
        new()
        {
            Kind = parsed.GetValue(_kind) == TopicKind.Durable ? TopicKind.Durable : TopicKind.Transient,
            Ack = parsed.GetValue(_ack),
            Pairs = parsed.GetValue(_pairs) ?? BenchSettings.UsualPairs,
            Server = _broker.ReadGivenText(parsed),
            DataDirectory = parsed.GetValue(_data),
            AgainstNats = parsed.GetValue(_against) is not null || parsed.GetValue(_natsUrl) is not null,
            NatsUrl = parsed.GetValue(_natsUrl),
        };
}
