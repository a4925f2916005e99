namespace LightQ.Client;

/// <summary>Throws in the client's name, for code below the client that does not know it.</summary>
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
