namespace LightQ.Cli.Bench.Roles;

/// <summary>What a load goes through.</summary>
internal enum LoadTarget
{
    LightQ,
    Relay,
    Nats,
}
