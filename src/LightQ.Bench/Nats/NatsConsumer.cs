using System.Net.Sockets;
using LightQ.Bench.Checks;
using LightQ.Bench.Load;

namespace LightQ.Bench.Nats;

/// <summary>Consumes from NATS on a thread that blocks in receive and parses in place.</summary>
internal sealed class NatsConsumer : ILoadConsumer
{
    private readonly NatsConnection _connection;

    public NatsConsumer(NatsConnection connection, string subject)
    {
        _connection = connection;
        connection.Subscribe(subject);
    }

    public Task Subscribed => Task.CompletedTask;

    public Task ConsumeAsync(DeliveryCheck check, CancellationToken cancellationToken)
    {
        _connection.SetCheck(check);
        return Task.Factory.StartNew(
            () => Consume(check, cancellationToken),
            cancellationToken,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default
        );
    }

    public ValueTask DisposeAsync()
    {
        _connection.Dispose();
        return ValueTask.CompletedTask;
    }

    private void Consume(DeliveryCheck check, CancellationToken cancellationToken)
    {
        using CancellationTokenRegistration ended = cancellationToken.UnsafeRegister(
            static s => ((Socket)s!).Dispose(),
            _connection.Socket
        );
        while (!check.IsComplete)
            _connection.Receive();
    }
}
