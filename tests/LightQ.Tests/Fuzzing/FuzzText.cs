using System.Text;

namespace LightQ.Tests.Fuzzing;

/// <summary>Texts as bytes, for the mutations, and back.</summary>
internal static class FuzzText
{
    /// <summary>Seeds or tokens of texts.</summary>
    public static byte[][] Bytes(params string[] texts) => [.. texts.Select(Encoding.UTF8.GetBytes)];

    /// <summary>
    /// The text of an input; what is not UTF-8 becomes half a surrogate pair, which no decoder would let through.
    /// </summary>
    public static string Of(ReadOnlySpan<byte> input) => Encoding.UTF8.GetString(input).Replace('\uFFFD', '\uD800');
}
