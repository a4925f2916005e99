using LightQ.Broker.Streams;

namespace LightQ.Server.Connections;

/// <summary>How what streams have to send is written on a connection.</summary>
internal interface IOutputFormat
{
    /// <summary>
    /// Writes what a stream has to send next into the current turn, <see cref="ConnectionOutput.WriteRoom"/> bytes and
    /// a small run at most: into <see cref="ConnectionOutput.Free"/>, and a larger run behind.
    /// </summary>
    /// <param name="stream">
    /// The stream; it is put back with <see cref="ConnectionOutput.TakeTurn"/> if it has more.
    /// </param>
    /// <param name="output">The turn.</param>
    /// <param name="tail">A run to send behind the buffer, with which the turn is full.</param>
    /// <returns>Whether the turn is full.</returns>
    bool Write(OutputStream stream, ConnectionOutput output, out ReadOnlyMemory<byte> tail);
}
