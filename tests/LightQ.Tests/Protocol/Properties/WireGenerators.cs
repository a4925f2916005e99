using FsCheck;
using FsCheck.Fluent;

namespace LightQ.Tests.Protocol.Properties;

/// <summary>Random values that lean towards the ends of their ranges.</summary>
internal static class WireGenerators
{
    private static readonly char[] Letters = ['a', 'Z', '0', ' ', '\0', '\n', 'é', '\u0800', '漢', '\uFFFD'];

    public static Gen<ulong> U64 =>
        Gen.OneOf(
            Gen.Elements<ulong>(0, 1, 2, int.MaxValue, uint.MaxValue, long.MaxValue, 1ul << 63, ulong.MaxValue),
            from high in Gen.Choose(int.MinValue, int.MaxValue)
            from low in Gen.Choose(int.MinValue, int.MaxValue)
            select ((ulong)(uint)high << 32) | (uint)low
        );

    public static Gen<long> I64 => U64.Select(value => (long)value);

    public static Gen<long> Offset => U64.Select(value => (long)(value & long.MaxValue));

    public static Gen<uint> U32 => U64.Select(value => (uint)value);

    public static Gen<uint> Count => U32.Select(value => Math.Max(1, value));

    public static Gen<ushort> U16 => U64.Select(value => (ushort)value);

    public static Gen<string> Text =>
        Gen.OneOf(
            Gen.ArrayOf(Gen.Elements(Letters)).Select(letters => new string(letters)),
            Gen.Elements("", "😀", "orders", new string('x', 65_535), new string('漢', 21_845))
        );

    public static Gen<Guid> AnyGuid =>
        from a in U64
        from b in U64
        select new Guid([.. BitConverter.GetBytes(a), .. BitConverter.GetBytes(b)]);

    public static Gen<byte[]> Bytes(int most) =>
        from length in Gen.Choose(0, most)
        from seed in Gen.Choose(0, int.MaxValue)
        select RandomBytes(length, seed);

    public static Gen<T> Enum<T>()
        where T : struct, System.Enum => Gen.Elements(System.Enum.GetValues<T>());

    public static byte[] RandomBytes(int length, int seed)
    {
        var bytes = new byte[length];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    /// <summary>Checks a property; a failure is an exception that names the seed to replay it with.</summary>
    public static void Check<T>(this Gen<T> gen, int cases, Action<T> property) =>
        Prop.ForAll(gen.ToArbitrary(), property).Check(Config.QuickThrowOnFailure.WithMaxTest(cases));
}
