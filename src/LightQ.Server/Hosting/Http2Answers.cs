using System.Collections.Concurrent;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Hosting;

/// <summary>
/// The answers under way on a connection of HTTP/2, each told how much of it has gone out. The web server says that an
/// answer is sent when it has been written, whether or not the client has granted a window for it. Thread-safe.
/// </summary>
internal sealed class Http2Answers
{
    private static readonly object Key = new();

    private readonly ConcurrentDictionary<int, Action<int, bool>> _byStream = new();

    /// <summary>Those of the connection of a request; null where nothing follows what goes out.</summary>
    public static Http2Answers? Of(HttpContext http) =>
        http.Features.Get<IConnectionItemsFeature>() is { } connection
        && connection.Items.TryGetValue(Key, out object? answers)
            ? (Http2Answers?)answers
            : null;

    /// <summary>Makes them known to the requests of a connection.</summary>
    /// <param name="items">What the connection carries.</param>
    public void AddTo(IDictionary<object, object?> items) => items[Key] = this;

    /// <summary>An answer begins.</summary>
    /// <param name="stream">Its stream.</param>
    /// <param name="onTaken">Is told how much of its body goes out, and whether nothing comes behind.</param>
    public void Begin(int stream, Action<int, bool> onTaken) => _byStream[stream] = onTaken;

    /// <summary>An answer is followed no more.</summary>
    public void Forget(int stream) => _byStream.TryRemove(stream, out _);

    /// <summary>A frame of an answer goes out.</summary>
    /// <param name="stream">Whose.</param>
    /// <param name="bytes">How much it has of the body.</param>
    /// <param name="isLast">Whether nothing of the stream comes behind it.</param>
    public void OnFrame(int stream, int bytes, bool isLast)
    {
        if (_byStream.TryGetValue(stream, out Action<int, bool>? onTaken))
            onTaken(bytes, isLast);
    }

    /// <summary>The client wants no more of an answer.</summary>
    public void OnReset(int stream) => OnFrame(stream, 0, isLast: true);

    /// <summary>The connection has ended.</summary>
    public void End()
    {
        foreach (int stream in _byStream.Keys)
            OnReset(stream);
    }
}
