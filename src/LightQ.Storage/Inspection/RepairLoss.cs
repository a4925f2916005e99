namespace LightQ.Storage.Inspection;

/// <summary>What a repair loses.</summary>
/// <param name="File">The segment.</param>
/// <param name="FirstOffset">The first offset.</param>
/// <param name="LastOffset">The last offset.</param>
/// <param name="Bytes">Bytes of batches.</param>
public sealed record RepairLoss(string File, long FirstOffset, long LastOffset, long Bytes);
