using System.Text;
using LightQ.Broker;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class BrokerIdentityTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-identity-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public void An_id_stays_the_same()
    {
        Guid id = BrokerIdentity.ReadOrCreate(_directory);
        Assert.Equal(id, BrokerIdentity.ReadOrCreate(_directory));
    }

    [Fact]
    public void A_file_without_a_checksum_is_read()
    {
        var id = Guid.NewGuid();
        File.WriteAllText(PathOf(), id.ToString("N"));
        Assert.Equal(id, BrokerIdentity.ReadOrCreate(_directory));
        Assert.Equal(id.ToString("N"), File.ReadAllText(PathOf()));
    }

    [Fact]
    public void Any_changed_bit_is_noticed()
    {
        byte[] whole = BrokerIdentity.Encode(Guid.NewGuid());
        for (int bit = 0; bit < (whole.Length - 1) * 8; bit++) // A changed line feed changes no id.
        {
            byte[] bytes = [.. whole];
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.True(
                BrokerIdentity.Decode(bytes) is null,
                $"Bit {bit % 8} of byte {bit / 8} went unnoticed: {Encoding.Latin1.GetString(bytes)}"
            );
        }
    }

    [Fact]
    public void A_damaged_file_is_refused_and_stays_as_it_is()
    {
        BrokerIdentity.ReadOrCreate(_directory);
        byte[] bytes = File.ReadAllBytes(PathOf());
        bytes[5] ^= 1;
        File.WriteAllBytes(PathOf(), bytes);
        DataDirectoryException error = Assert.Throws<DataDirectoryException>(() =>
            BrokerIdentity.ReadOrCreate(_directory)
        );
        Assert.Contains(PathOf(), error.Message, StringComparison.Ordinal);
        Assert.Equal(bytes, File.ReadAllBytes(PathOf()));
        File.Delete(PathOf());
        Assert.NotEqual(Guid.Empty, BrokerIdentity.ReadOrCreate(_directory));
    }

    private string PathOf() => Path.Combine(_directory, BrokerIdentity.FileName);
}
