using LightQ.Protocol.Batches;

namespace LightQ.Storage.Inspection;

/// <summary>Gets a stored batch; the view is valid during the call.</summary>
/// <param name="file">The segment.</param>
/// <param name="position">Where in it the batch begins.</param>
/// <param name="batch">The batch; of a gap, only the header.</param>
/// <param name="isValid">Whether it is whole and follows on the batch before it.</param>
public delegate void StoredBatchVisitor(string file, long position, BatchView batch, bool isValid);
