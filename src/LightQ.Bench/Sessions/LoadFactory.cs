using System.Globalization;
using LightQ.Bench.Load;
using LightQ.Bench.Nats;
using LightQ.Bench.Relay;
using LightQ.Client;

namespace LightQ.Bench.Sessions;

/// <summary>Makes the two ends of a run.</summary>
internal static class LoadFactory
{
    public static async Task<ILoadProducer> CreateProducerAsync(RunSpec spec)
    {
        switch (spec.Target)
        {
            case LoadTarget.Relay:
                return new RelayProducer(ConnectRelay(spec.Endpoint, spec.RelayCaFile), spec.Size);
            case LoadTarget.Nats:
                return new NatsProducer(ConnectNats(spec.Endpoint), spec.Topic, spec.Size);
            default:
                var client = new LightQClient(LightQClientOptions.Parse(spec.Endpoint));
                Producer producer = await CreateLightQProducerAsync(client, spec);
                return spec.Api switch
                {
                    LoadApi.Batch => new LightQBatchProducer(client, producer, spec.Size),
                    LoadApi.Message => new LightQMessageProducer(client, producer, spec.Size),
                    _ => new LightQAckedProducer(client, producer, spec.Size, spec.InFlight),
                };
        }
    }

    public static async Task<ISinglePublisher> CreatePublisherAsync(RunSpec spec)
    {
        switch (spec.Target)
        {
            case LoadTarget.Relay:
                return new RelayProducer(ConnectRelay(spec.Endpoint, spec.RelayCaFile), spec.Size);
            case LoadTarget.Nats:
                return new NatsProducer(ConnectNats(spec.Endpoint), spec.Topic, spec.Size);
            default:
                var client = new LightQClient(LightQClientOptions.Parse(spec.Endpoint));
                return new LightQSinglePublisher(client, await CreateLightQProducerAsync(client, spec));
        }
    }

    public static ILoadConsumer CreateConsumer(RunSpec spec) =>
        spec.Target switch
        {
            LoadTarget.Relay => new RelayConsumer(ConnectRelay(spec.ConsumeEndpoint!, spec.RelayCaFile)),
            LoadTarget.Nats => new NatsConsumer(ConnectNats(spec.Endpoint), spec.Topic),
            _ => new LightQConsumer(
                new LightQClient(LightQClientOptions.Parse(spec.ConsumeEndpoint ?? spec.Endpoint)),
                spec.Topic,
                ConsumeOptionsOf(spec),
                spec.Api == LoadApi.Batch
            ),
        };

    private static ConsumeOptions ConsumeOptionsOf(RunSpec spec) =>
        spec.StartOffset is { } offset
            ? new ConsumeOptions { Start = StartPosition.Offset(offset) }
            : new ConsumeOptions();

    private static async Task<Producer> CreateLightQProducerAsync(LightQClient client, RunSpec spec)
    {
        try
        {
            return await client.CreateProducerAsync(spec.Topic, new ProducerOptions { AckLevel = spec.Ack });
        }
        catch
        {
            await client.DisposeAsync();
            throw;
        }
    }

    private static NatsConnection ConnectNats(string endpoint)
    {
        (string host, int port) = Split(endpoint);
        return new NatsConnection(host, port);
    }

    private static RelayWire ConnectRelay(string endpoint, string? caFile)
    {
        (string host, int port) = Split(endpoint);
        return RelayWire.Connect(host, port, caFile);
    }

    private static (string Host, int Port) Split(string endpoint)
    {
        int colon = endpoint.LastIndexOf(':');
        return (endpoint[..colon], int.Parse(endpoint.AsSpan(colon + 1), CultureInfo.InvariantCulture));
    }
}
