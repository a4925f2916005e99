namespace LightQ.Broker.Catalog;

/// <summary>
/// Who asks for the change of a cluster's catalog that this thread makes: a change that has waited for the engine is
/// dropped when its asker has given up meanwhile. One that has been sent already cannot be taken back.
/// </summary>
/// <remarks>It is the thread's alone: what a call begins in the background outlives it.</remarks>
internal static class CatalogAsker
{
    /// <summary>Is cancelled when the asker has given up.</summary>
    [field: ThreadStatic]
    public static CancellationToken Token { get; set; }
}
