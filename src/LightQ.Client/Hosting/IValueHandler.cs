namespace LightQ.Client.Hosting;

/// <summary>A handler that needs a serializer.</summary>
internal interface IValueHandler
{
    /// <summary>Checks that its serializer can read.</summary>
    /// <exception cref="Exception">It cannot.</exception>
    void EnsureCanRead();
}
