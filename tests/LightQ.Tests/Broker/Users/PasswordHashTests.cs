using System.Security.Cryptography;
using System.Text;
using LightQ.Broker.Catalog;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using Xunit;

namespace LightQ.Tests.Broker.Users;

public sealed class PasswordHashTests
{
    [Fact]
    public void A_hash_is_its_passwords_alone_and_another_each_time()
    {
        string one = PasswordHash.Create("T0p$3cr31"),
            two = PasswordHash.Create("T0p$3cr31");
        Assert.NotEqual(one, two);
        Assert.True(PasswordHash.Verify(one, "T0p$3cr31") && PasswordHash.Verify(two, "T0p$3cr31"));
        Assert.False(PasswordHash.Verify(one, "T0p$3cr3"));
        Assert.False(PasswordHash.Verify(one, ""));
        Assert.True(PasswordHash.IsCurrent(one));
        Assert.Matches(@"^\$pbkdf2-sha256\$i=600000\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$", one);
    }

    [Fact]
    public void A_hash_of_another_maker_is_read()
    {
        // Python: hashlib.pbkdf2_hmac("sha256", b"password", b"saltsaltsaltsalt", 1000, 32)
        byte[] salt = "saltsaltsaltsalt"u8.ToArray();
        byte[] key = Rfc2898DeriveBytes.Pbkdf2("password"u8, salt, 1000, HashAlgorithmName.SHA256, 32);
        string hash = PasswordHash.Format("pbkdf2-sha256", 1000, salt, key);
        Assert.True(PasswordHash.Verify(hash, "password"));
        Assert.False(PasswordHash.IsCurrent(hash));
    }

    [Theory]
    [InlineData("")]
    [InlineData("password")]
    [InlineData("$argon2id$v=19$m=1$AAAA$AAAA")]
    [InlineData("$pbkdf2-sha256$i=0$AAAA$AAAA")]
    [InlineData("$pbkdf2-sha256$i=-5$AAAA$AAAA")]
    [InlineData("$pbkdf2-sha256$i=999999999$AAAA$AAAA")]
    [InlineData("$pbkdf2-sha256$i=1000$?$AAAA")]
    [InlineData("$pbkdf2-sha256$i=1000$AAAA")]
    public void What_is_no_hash_verifies_nothing(string text)
    {
        Assert.False(PasswordHash.IsValid(text));
        Assert.Throws<FormatException>(() => PasswordHash.Verify(text, ""));
    }

    /// <summary>What the catalog held before there was one kind of hash for all.</summary>
    [Fact]
    public void The_credentials_of_an_earlier_catalog_still_count()
    {
        byte[] salt = RandomNumberGenerator.GetBytes(16);
        byte[] hash = Rfc2898DeriveBytes.Pbkdf2(
            Encoding.UTF8.GetBytes("T0p$3cr31"),
            salt,
            210_000,
            HashAlgorithmName.SHA512,
            32
        );
        TopicCredentials credentials = new CatalogRecord.CredentialsEntry(
            "test_admin",
            Salt: salt,
            Hash: hash,
            Iterations: 210_000
        ).ToCredentials();
        Assert.True(PasswordHash.Verify(credentials.Password, "T0p$3cr31"));
        Assert.False(PasswordHash.Verify(credentials.Password, "guess"));
        Assert.False(PasswordHash.IsCurrent(credentials.Password));
    }

    [Fact]
    public void No_hash_is_printed()
    {
        Assert.Equal("u", $"{new TopicCredentials("u", "$hash")}");
        Assert.Equal("u", $"{new User("u", Guid.NewGuid(), default, "$hash", 0, [])}");
        Assert.Equal("id", $"{new AccessToken("id", "u", "hash", default, null, "")}");
    }
}
