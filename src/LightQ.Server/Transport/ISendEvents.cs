namespace LightQ.Server.Transport;

/// <summary>What a <see cref="FrameSender"/> reports to the code that sends through it.</summary>
internal interface ISendEvents
{
    /// <summary>A pending send has ended. Any thread.</summary>
    /// <param name="sent">Whether all bytes are out; otherwise the peer is gone.</param>
    void OnSendCompleted(bool sent);
}
