namespace LightQ.Cli.Bench.Report;

/// <summary>What several scenarios' pages say in the same words.</summary>
internal static class ScenarioNotes
{
    public const string Broker =
        "LightQ is a message broker: producers send messages to a topic, consumers receive them from it. A "
        + "transient topic keeps them in memory, a durable one on disk.";

    public const string Processes =
        "Producer, broker and consumer are processes of one machine, share its processor and talk over TCP on "
        + "its loopback interface.";

    public const string Relay =
        "The yardstick \"relay\" is the same producer and consumer with a plain relay of bytes in the broker's "
        + "place: what this machine and this client allow when nobody does a broker's work. The ratio is the "
        + "broker's figure over the relay's. The two took turns, and all figures are medians of the pairs.";

    public const string Checked =
        "Every message carried its number and a checksum; a run in which one is lost, repeated, out of order or "
        + "damaged counts as failed and says so here.";

    public const string OneMachine =
        "Not shown: a network, several producers or topics at a time, and other machines. Compare ratios, not "
        + "messages per second, between machines.";
}
