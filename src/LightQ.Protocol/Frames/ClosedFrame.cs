namespace LightQ.Protocol.Frames;

/// <summary>
/// Reports that a stream has ended. Also answers a rejected OpenProducer or Subscribe, with the request's tag.
/// </summary>
/// <param name="Code"><see cref="ErrorCode.None"/> for a normal end.</param>
/// <param name="Message">For people; may be empty.</param>
/// <param name="Epoch">
/// With <see cref="ErrorCode.NotLeader"/>, and only then sent: the newest epoch of the partition that the broker knows;
/// 0 if it knows none.
/// </param>
/// <param name="Address">
/// With <see cref="ErrorCode.NotLeader"/>, and only then sent: <c>host:port</c> of the leader's data plane; empty if
/// the broker does not know it.
/// </param>
/// <param name="Number">
/// With <see cref="ErrorCode.Fenced"/>, and only then sent: the number of the opening that has the name of a producer
/// which asked for it with a lower one; 0 where that is not the reason.
/// </param>
public readonly record struct ClosedFrame(
    ErrorCode Code,
    string Message,
    uint Epoch = 0,
    string Address = "",
    ulong Number = 0
) : IFrameBody<ClosedFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Closed;

    /// <inheritdoc/>
    public int MaxSize =>
        sizeof(ushort)
        + BodyWriter.SizeOf(Message)
        + (Code == ErrorCode.NotLeader ? sizeof(uint) + BodyWriter.SizeOf(Address) : 0)
        + (Number != 0 ? sizeof(ulong) : 0);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt16((ushort)Code);
        writer.WriteString(Message);
        if (Code == ErrorCode.NotLeader)
        {
            writer.WriteUInt32(Epoch);
            writer.WriteString(Address);
        }
        else if (Code == ErrorCode.Fenced && Number != 0)
        {
            writer.WriteUInt64(Number);
        }
    }

    /// <inheritdoc/>
    public static ClosedFrame Read(ref BodyReader reader)
    {
        var code = (ErrorCode)reader.ReadUInt16();
        string message = reader.ReadString();
        return code switch
        {
            ErrorCode.NotLeader when reader.Remaining != 0 => new ClosedFrame(
                code,
                message,
                reader.ReadUInt32(),
                reader.ReadString()
            ),
            ErrorCode.Fenced when reader.Remaining != 0 => new ClosedFrame(code, message, Number: reader.ReadUInt64()),
            _ => new ClosedFrame(code, message),
        };
    }
}
