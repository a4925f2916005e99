using System.Buffers;

namespace LightQ.Server.Connections;

/// <summary>An answer of the protocol, in its own format.</summary>
internal interface IAnswer
{
    /// <summary>Writes it.</summary>
    void WriteTo(IBufferWriter<byte> buffer);
}
