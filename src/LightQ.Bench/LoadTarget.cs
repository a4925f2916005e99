namespace LightQ.Bench;

/// <summary>What a load goes through.</summary>
internal enum LoadTarget
{
    LightQ,
    Relay,
    Nats,
}
