namespace LightQ.Protocol.Frames;

/// <summary>A frame body that can be written and read; bytes in, struct out.</summary>
/// <typeparam name="TSelf">The body's own type.</typeparam>
public interface IFrameBody<TSelf>
    where TSelf : IFrameBody<TSelf>, allows ref struct
{
    /// <summary>The type of frame this body belongs to.</summary>
    static abstract FrameType Type { get; }

    /// <summary>An upper bound of the bytes <see cref="Write"/> produces.</summary>
    int MaxSize { get; }

    /// <summary>Writes the body.</summary>
    void Write(ref BodyWriter writer);

    /// <summary>
    /// Reads a body; bytes after the known fields are ignored, so that later versions can add fields.
    /// </summary>
    /// <exception cref="ProtocolException">A field is cut off or outside its range.</exception>
    static abstract TSelf Read(ref BodyReader reader);
}
