using System.Buffers;

namespace LightQ.Broker.Producers;

/// <summary>
/// Batches that found the log full, in order, in pooled memory. At most the publish window and one batch.
/// </summary>
/// <param name="budget">Of all streams together.</param>
/// <param name="user">The number of whose they are.</param>
internal sealed class PendingBatches(PendingBudget budget, uint user)
{
    private readonly Queue<Piece> _pieces = new();

    /// <summary>Whether nothing waits.</summary>
    public bool IsEmpty => _pieces.Count == 0;

    /// <summary>The oldest bytes: whole batches.</summary>
    public ReadOnlySpan<byte> First
    {
        get
        {
            Piece piece = _pieces.Peek();
            return piece.Buffer.AsSpan(piece.Start, piece.End - piece.Start);
        }
    }

    /// <summary>Copies batches to the end.</summary>
    /// <returns>False, with the reason, when the producers of this broker have too much waiting already.</returns>
    public bool TryAdd(ReadOnlySpan<byte> batches, out string reason)
    {
        if (!budget.TryTake(user, batches.Length, out reason))
            return false;
        byte[] buffer = ArrayPool<byte>.Shared.Rent(batches.Length);
        batches.CopyTo(buffer);
        _pieces.Enqueue(new Piece { Buffer = buffer, End = batches.Length });
        return true;
    }

    /// <summary>Removes <paramref name="bytes"/> from the front of <see cref="First"/>.</summary>
    public void Remove(int bytes)
    {
        Piece piece = _pieces.Peek();
        piece.Start += bytes;
        if (piece.Start < piece.End)
            return;
        _pieces.Dequeue();
        GiveBack(piece);
    }

    /// <summary>Removes everything.</summary>
    public void Clear()
    {
        while (_pieces.TryDequeue(out Piece? piece))
            GiveBack(piece);
    }

    private void GiveBack(Piece piece)
    {
        ArrayPool<byte>.Shared.Return(piece.Buffer);
        budget.Give(user, piece.End);
    }

    private sealed class Piece
    {
        public required byte[] Buffer { get; init; }

        public required int End { get; init; }

        public int Start { get; set; }
    }
}
