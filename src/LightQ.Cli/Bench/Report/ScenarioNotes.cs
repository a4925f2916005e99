namespace LightQ.Cli.Bench.Report;

/// <summary>What a reader must know to read a scenario's page who has never seen the project: what is measured, how, against what, and what it does not show.</summary>
internal static class ScenarioNotes
{
    private const string Broker = "LightQ is a message broker: producers send messages to a topic, consumers receive them from it. A transient topic keeps them in memory, a durable one on disk.";

    private const string Processes = "Producer, broker and consumer are processes of one machine, share its processor and talk over TCP on its loopback interface.";

    private const string Relay = "The yardstick \"relay\" is the same producer and consumer with a plain relay of bytes in the broker's place: what this machine and this client allow when nobody does a broker's work. The ratio is the broker's figure over the relay's. The two took turns, and all figures are medians of the pairs.";

    private const string Checked = "Every message carried its number and a checksum; a run in which one is lost, repeated, out of order or damaged counts as failed and says so here.";

    private const string OneMachine = "Not shown: a network, several producers or topics at a time, and other machines. Compare ratios, not messages per second, between machines.";

    /// <summary>The notes, a paragraph each; none for a scenario that explains itself.</summary>
    public static IReadOnlyList<string> Of(string scenario) => scenario switch
    {
        "throughput" => [Broker, "Measured: how many messages a second go through one topic, as fast as one producer and one consumer can.", Processes, Relay, Checked, OneMachine],
        "catch-up" => [Broker, "Measured: how many messages a second a consumer receives that begins when a durable topic holds them all already, on disk and, being new, in the page cache; from before it subscribes until the last one. The producer has finished by then.", Processes, Relay, Checked, "Not shown: a backlog that must come from the disk, a network, and other machines. Compare ratios, not messages per second, between machines."],
        "latency" => [Broker, "Measured: how long a message takes from publish to receipt on another connection, at a fixed rate. It counts from when sending was due, so that a stall counts too, unless a remark below says otherwise.", Processes, Relay, Checked, OneMachine],
        "reference" => [Broker, "Measured: ten million messages (or as many as the table says) from one producer to one consumer, beside what two published documents say of the broker that LightQ re-creates. Theirs are other machines and years: the ratio says how the figures compare, not how the programs would side by side.", Processes, Checked],
        "fanout" => [Broker, "Measured: every message goes to every subscriber, each on a TCP connection of its own, and is acknowledged on both legs: by the broker to the publisher, by each subscriber to the broker. The run counts only when receipts = published × subscribers. Idle connections are open beside them.", Processes, "The published row is of another broker on another machine, and counts from its own clients' stamps."],
        "inprocess" => ["LightQ's rings and journal are libraries too. Measured: how long a message takes through one of them from one pinned thread to another, at a fixed rate, counted from when sending was due.", "The yardstick \"line\" hands a single cache line from thread to thread on the same two processors: nothing can be faster.", "Later than 20 us: the share of messages that took so long, and the line's own when it is sent on the same schedule. What is late there is the machine's doing.", "Not shown: sockets, a broker, or more than one producer."],
        "scale" => [Broker, "Measured: the same work on two brokers, of which the second has more around it: more topics, more stored, more subscriptions, or more idle connections. What is left with many, of what there is with few, says what growth costs.", "Every delivery is counted and its offset must follow the one before; a run in which one is missing counts as failed.", "Not shown: a network, and other machines."],
        "startup" => [Broker, "Measured: how long a broker takes from the start of its process until it is ready, after it was killed (kill -9) while four of its durable topics were written to, again and again. The yardstick \"empty\" is a start on an empty directory, in turns with it.", "After each start every topic is looked at: a message that had been acknowledged and is not there counts as lost, and the run as failed.", "Not shown: a machine that has just started itself, whose page cache is empty."],
        "settle" => [Broker, "Measured: how many messages a second one member of a group reads from a topic that was filled before and settles, until the broker has taken the last settlement. The yardstick is a member whose messages the broker settles itself, once it has sent them.", "A run counts only when the broker has nothing left to be settled.", OneMachine],
        _ => [],
    };
}
