using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics;
using LightQ.Client;

namespace LightQ.IntegrationTests.Faults;

/// <summary>One producer and one consumer at a steady pace, and how long each message took from one to the other.</summary>
internal sealed class HealthyLoad : IAsyncDisposable
{
    private static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(2);

    private readonly CancellationTokenSource _end = new();
    private readonly ConcurrentQueue<long> _took = new();
    private readonly LightQClient _client;
    private readonly Producer _producer;
    private readonly Task _publishing;
    private readonly Task _consuming;

    private HealthyLoad(LightQClient client, Producer producer, string topic)
    {
        (_client, _producer) = (client, producer);
        _consuming = Task.Run(() => ConsumeAsync(topic));
        _publishing = Task.Run(PublishAsync);
    }

    /// <summary>Messages published.</summary>
    public long Published { get; private set; }

    /// <summary>Messages received.</summary>
    public long Received { get; private set; }

    /// <summary>Begins on a topic that exists.</summary>
    public static async Task<HealthyLoad> StartAsync(LightQClient client, string topic) => new(client, await client.CreateProducerAsync(topic), topic);

    /// <summary>The 99th percentile of what arrived since the last call, in microseconds.</summary>
    public long TakeP99()
    {
        var took = new List<long>();
        while (_took.TryDequeue(out long one))
            took.Add(one);
        took.Sort();
        return took.Count == 0 ? long.MaxValue : took[(int)(took.Count * 0.99)];
    }

    /// <summary>Ends the publishing and waits until everything has arrived.</summary>
    public async Task FinishAsync(TimeSpan patience)
    {
        await _end.CancelAsync();
        await _publishing;
        await Eventually.TrueAsync(() => Received >= Published, patience, () => $"{Received} of {Published} messages have arrived");
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await _producer.DisposeAsync();
        await _client.DisposeAsync();
        await _consuming.ContinueWith(static _ => { }, TaskScheduler.Default);
        _end.Dispose();
    }

    private async Task PublishAsync()
    {
        using var pace = new PeriodicTimer(Pace);
        byte[] body = new byte[100];
        while (!_end.IsCancellationRequested)
        {
            await pace.WaitForNextTickAsync(CancellationToken.None);
            BinaryPrimitives.WriteInt64LittleEndian(body, Stopwatch.GetTimestamp());
            await _producer.PublishAsync(body, cancellationToken: CancellationToken.None);
            Published++;
        }
    }

    private async Task ConsumeAsync(string topic)
    {
        await foreach (Message message in _client.ConsumeAsync(topic, new ConsumeOptions { Start = StartPosition.Earliest }))
        {
            _took.Enqueue((long)Stopwatch.GetElapsedTime(BinaryPrimitives.ReadInt64LittleEndian(message.Body.Span)).TotalMicroseconds);
            Received++;
        }
    }
}
