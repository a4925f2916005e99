namespace LightQ.Client.Hosting;

/// <summary>A producer that a host opens and closes, whatever it publishes.</summary>
internal interface IHostedProducer
{
    string Topic { get; }

    /// <summary>The key of its client; null for the one without.</summary>
    object? ClientKey { get; }

    /// <summary>Why it takes no messages, as far as is known; null while it does, or is being opened.</summary>
    LightQException? Failure { get; }

    /// <summary>Opens it, unless it is open.</summary>
    /// <exception cref="LightQException">The broker rejected it or cannot be reached.</exception>
    Task OpenAsync(CancellationToken cancellationToken);

    /// <summary>It will not be opened: ends the calls that wait for it.</summary>
    void GiveUp(Exception reason);

    /// <summary>Waits for the messages under way, as its options say, and closes it.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    Task CloseAsync(CancellationToken cancellationToken);
}
