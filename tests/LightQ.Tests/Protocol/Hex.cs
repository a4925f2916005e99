using Xunit;

namespace LightQ.Tests.Protocol;

/// <summary>Bytes written as hexadecimal text with white space anywhere.</summary>
internal static class Hex
{
    public static byte[] Bytes(string text) =>
        Convert.FromHexString(string.Concat(text.Where(c => !char.IsWhiteSpace(c))));

    public static string Text(ReadOnlySpan<byte> bytes) => Convert.ToHexStringLower(bytes);

    public static void Equal(string expected, ReadOnlySpan<byte> actual) =>
        Assert.Equal(Text(Bytes(expected)), Text(actual));
}
