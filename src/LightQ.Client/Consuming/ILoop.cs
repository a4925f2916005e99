using LightQ.Protocol.Frames;

namespace LightQ.Client.Consuming;

/// <summary>What hands out a consumer's messages.</summary>
internal interface ILoop
{
    /// <summary>How much is delivered ahead of it.</summary>
    InFlightWindow Window { get; }

    /// <summary>How many messages it hands out in a turn.</summary>
    int Unit { get; }

    /// <summary>When the application last asked for a message, as a timestamp of the client's clock.</summary>
    long MovedAt { get; }

    /// <summary>
    /// Stops handing out the delivery that the application has a message of, if the application does not just ask for
    /// more. Called on the client's timer thread, under the consumer's gate.
    /// </summary>
    /// <param name="settlements">Settles what is left of the delivery.</param>
    /// <param name="rest">What is left of it; its count is 0 when nothing is.</param>
    /// <returns>False when the application asks for more.</returns>
    bool TryStop(out Settlements? settlements, out SettleRange rest);
}
