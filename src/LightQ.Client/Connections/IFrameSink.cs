using LightQ.Protocol.Frames;

namespace LightQ.Client.Connections;

/// <summary>Takes what a <see cref="FrameIntake"/> finds, on the receiving thread.</summary>
internal interface IFrameSink
{
    /// <summary>A whole frame other than Deliver. The body is valid during the call.</summary>
    void OnFrame(in FrameHeader header, ReadOnlySpan<byte> body);

    /// <summary>
    /// One or more whole batches of a Deliver frame; a frame may come in several runs. An implementation that keeps the
    /// run retains the block.
    /// </summary>
    /// <param name="stream">The subscription.</param>
    /// <param name="block">Where the run is.</param>
    /// <param name="offset">Where it begins.</param>
    /// <param name="length">Its bytes.</param>
    /// <param name="lastBatch">Where its last batch begins.</param>
    void OnRun(uint stream, ReceiveBlock block, int offset, int length, int lastBatch);

    /// <summary>A whole GroupDeliver frame. An implementation that keeps its batch retains the block.</summary>
    /// <param name="header">The frame's header.</param>
    /// <param name="block">Where the frame is.</param>
    /// <param name="offset">Where its body begins.</param>
    void OnGroupDeliver(in FrameHeader header, ReceiveBlock block, int offset);
}
