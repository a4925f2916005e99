using System.Text.Json;

namespace LightQ.Server.Json;

/// <summary>How many objects a parser would make of a text in JSON, before one does.</summary>
internal static class JsonScan
{
    /// <summary>Deeper than the parser goes.</summary>
    private const int MostDeep = 200;

    /// <summary>Counts values and names, up to one more than there may be.</summary>
    /// <remarks>
    /// Where the text is no JSON, what could begin a value is counted: the parser behind it may be less strict.
    /// </remarks>
    /// <param name="text">The text.</param>
    /// <param name="most">How many there may be.</param>
    public static int Count(ReadOnlySpan<byte> text, int most)
    {
        int elements = 0;
        var reader = new Utf8JsonReader(text, new JsonReaderOptions { MaxDepth = MostDeep });
        try
        {
            while (elements <= most && reader.Read())
                elements += reader.TokenType is JsonTokenType.EndObject or JsonTokenType.EndArray ? 0 : 1;
        }
        catch (JsonException)
        {
            foreach (byte b in text[(int)reader.BytesConsumed..])
                elements += b is (byte)'{' or (byte)'[' or (byte)',' or (byte)':' ? 1 : 0;
        }
        return elements;
    }
}
