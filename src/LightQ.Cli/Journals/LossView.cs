using LightQ.Storage.Inspection;

namespace LightQ.Cli.Journals;

/// <summary>A range of offsets that a repair loses.</summary>
internal sealed record LossView(string File, long FirstOffset, long LastOffset, long Messages, long Bytes)
{
    public static LossView From(RepairLoss loss) =>
        new(loss.File, loss.FirstOffset, loss.LastOffset, loss.LastOffset - loss.FirstOffset + 1, loss.Bytes);
}
