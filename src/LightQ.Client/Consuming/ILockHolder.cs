namespace LightQ.Client.Consuming;

/// <summary>Hears when the lock of its message is lost.</summary>
internal interface ILockHolder
{
    /// <summary>
    /// The message may be another member's by now. Called on the client's timer thread or the receiving one: must not
    /// block.
    /// </summary>
    void OnLockLost();
}
