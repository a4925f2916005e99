using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Runtime.Intrinsics.X86;
using System.Text;
using LightQ.Protocol.Checksums;
using Xunit;

namespace LightQ.Tests.Protocol.Checksums;

public sealed class Crc32CTests
{
    private const string ChildSwitch = "LIGHTQ_TEST_WITHOUT_INTRINSICS";

    // RFC 3720, B.4, and the check value of the catalogue of parametrised CRCs.
    public static TheoryData<string, uint> Vectors =>
        new()
        {
            { Hex.Text(Encoding.ASCII.GetBytes("123456789")), 0xE3069283 },
            { "", 0 },
            { new string('0', 64), 0x8A9136AA },
            { new string('f', 64), 0x62A8AB43 },
            { Hex.Text([.. Enumerable.Range(0, 32).Select(i => (byte)i)]), 0x46DD794E },
            { Hex.Text([.. Enumerable.Range(0, 32).Select(i => (byte)(31 - i))]), 0x113FDB5C },
            {
                "01c0000000000000000000000000000014000000000004000000001400000018280000000000000002000000000000 00",
                0xD9963A56
            },
        };

    [Theory]
    [MemberData(nameof(Vectors))]
    public void The_vectors_of_RFC_3720_hold(string data, uint expected) =>
        Assert.Equal(expected, Crc32C.Compute(Hex.Bytes(data)));

    [Fact]
    public void Every_length_from_0_to_5000_agrees_with_a_bit_by_bit_reference() => CompareAllLengths();

    [Theory]
    [InlineData(64 * 1024)]
    [InlineData((1024 * 1024) + 7)]
    public void Long_inputs_agree_with_a_bit_by_bit_reference(int length)
    {
        byte[] data = RandomBytes(length);
        Assert.Equal(Reference(data), Crc32C.Compute(data));
    }

    [Fact]
    public void Appending_in_two_pieces_is_the_same_wherever_the_cut_is()
    {
        byte[] data = RandomBytes(4000);
        uint whole = Crc32C.Compute(data);
        for (int cut = 0; cut <= data.Length; cut++)
            Assert.Equal(whole, Crc32C.Append(Crc32C.Compute(data.AsSpan(0, cut)), data.AsSpan(cut)));
    }

    [Fact]
    public void One_changed_bit_changes_the_checksum()
    {
        byte[] data = RandomBytes(600);
        uint whole = Crc32C.Compute(data);
        for (int bit = 0; bit < data.Length * 8; bit++)
        {
            data[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.NotEqual(whole, Crc32C.Compute(data));
            data[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }

    [Fact]
    public async Task A_processor_without_the_instruction_computes_the_same()
    {
        if (Environment.GetEnvironmentVariable(ChildSwitch) == "1")
        {
            Assert.False(Sse42.IsSupported, "The child process was to run without intrinsics.");
            CompareAllLengths();
            return;
        }
        string program = Path.ChangeExtension(Assembly.GetExecutingAssembly().Location, null);
        var start = new ProcessStartInfo(OperatingSystem.IsWindows() ? program + ".exe" : program)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.ArgumentList.Add("-method");
        start.ArgumentList.Add(
            $"{typeof(Crc32CTests).FullName}.{nameof(A_processor_without_the_instruction_computes_the_same)}"
        );
        start.Environment[ChildSwitch] = "1";
        start.Environment["DOTNET_EnableHWIntrinsic"] = "0";
        using Process child = Process.Start(start)!;
        CancellationToken stop = TestContext.Current.CancellationToken;
        Task<string> errors = child.StandardError.ReadToEndAsync(stop);
        string output = await child.StandardOutput.ReadToEndAsync(stop);
        await child.WaitForExitAsync(stop);
        Assert.True(
            child.ExitCode == 0 && output.Contains("Total: 1", StringComparison.Ordinal),
            output + await errors
        );
    }

    private static void CompareAllLengths()
    {
        byte[] data = RandomBytes(5000);
        uint reference = uint.MaxValue;
        for (int length = 0; length <= data.Length; length++)
        {
            uint actual = Crc32C.Compute(data.AsSpan(0, length));
            Assert.True(
                ~reference == actual,
                string.Create(CultureInfo.InvariantCulture, $"length {length}: {actual:x8}, expected {~reference:x8}")
            );
            if (length < data.Length)
                reference = Step(reference, data[length]);
        }
    }

    private static uint Reference(ReadOnlySpan<byte> data)
    {
        uint state = uint.MaxValue;
        foreach (byte b in data)
            state = Step(state, b);
        return ~state;
    }

    private static uint Step(uint state, byte b)
    {
        state ^= b;
        for (int bit = 0; bit < 8; bit++)
            state = (state >> 1) ^ ((state & 1) == 0 ? 0 : 0x82F63B78u);
        return state;
    }

    private static byte[] RandomBytes(int length)
    {
        var data = new byte[length];
        new Random(3720).NextBytes(data);
        return data;
    }
}
