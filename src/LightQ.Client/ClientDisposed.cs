namespace LightQ.Client;

/// <summary>The client is named by what is below it, which does not know it.</summary>
internal static class ClientDisposed
{
    /// <exception cref="ObjectDisposedException">The client is disposed.</exception>
    public static void ThrowIf(bool isDisposed)
    {
#pragma warning disable CA1513 // It would need the type, which lies above.
        if (isDisposed)
            throw new ObjectDisposedException("LightQ.Client.LightQClient");
#pragma warning restore CA1513
    }
}
