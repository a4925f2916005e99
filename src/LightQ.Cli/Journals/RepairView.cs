namespace LightQ.Cli.Journals;

/// <summary>What <c>journal repair</c> does to one journal, or would do.</summary>
/// <param name="Name">
/// The topic's name, <c>catalog</c> or <c>groups</c>; absent for a topic that the catalog does not know.
/// </param>
/// <param name="Directory">Where it is.</param>
/// <param name="Losses">What is lost by it.</param>
/// <param name="Steps">What is done.</param>
/// <param name="Refusal">Why it cannot be repaired; absent when it can.</param>
/// <param name="Report">The report that was written; absent when nothing was done.</param>
/// <param name="UndoneChanges">
/// What the audit log lists and the catalog no longer knows; absent unless changes of the catalog are lost.
/// </param>
internal sealed record RepairView(
    string? Name,
    string Directory,
    IReadOnlyList<LossView> Losses,
    IReadOnlyList<string> Steps,
    string? Refusal,
    string? Report,
    IReadOnlyList<LostChangeView>? UndoneChanges
);
