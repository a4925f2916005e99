namespace LightQ.Cli.Clusters;

/// <summary>What <c>lightq cluster try --nemesis</c> does under load, in the order in which it is done.</summary>
internal enum TryFault
{
    /// <summary>A broker that leads a partition is killed (-9), and started again after a second.</summary>
    KillBroker,

    /// <summary>A broker that leads a partition is stopped as by its service, and started again.</summary>
    StopBroker,

    /// <summary>A broker that leads a partition stands still for five seconds.</summary>
    PauseBroker,

    /// <summary>The nats-server that leads the three is killed, and started again after a second.</summary>
    KillEngine,

    /// <summary>The nats-server that leads the three stands still for five seconds.</summary>
    PauseEngine,

    /// <summary>All brokers and all nats-servers are killed at once, and started again.</summary>
    KillAll,
}
