using System.Reflection;
using System.Runtime.CompilerServices;
using LightQ.Broker.Users;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>
/// A record prints every property it has. One that holds a password, a token or a hash of one must say itself what it
/// prints.
/// </summary>
public sealed class SecretTests
{
    private static readonly string[] Words = ["Password", "Token", "Secret", "Credentials", "Hash", "Salt"];

    /// <summary>
    /// Names of files, the id of a token, places in lists, and the chain of the audit log, which is made to be shown.
    /// </summary>
    private static readonly string[] Harmless =
    [
        "PasswordFile",
        "PageToken",
        "NextPageToken",
        "CatalogRecord.DeletedToken",
        "AuditEventInfo.Hash",
        "AuditHead.Hash",
        "AuditLine.Hash",
        "AuditLine.PreviousHash",
    ];

    public static TheoryData<string> ProjectNames => [.. SourceTree.Projects.Keys];

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void A_record_with_a_secret_does_not_print_it(string name) =>
        Assert.Empty(
            Assembly
                .Load(SourceTree.Projects[name].AssemblyName)
                .GetTypes()
                .Where(t => Holds(t) && PrintsEverything(t))
                .Select(t => t.FullName)
        );

    [Fact]
    public void The_secrets_are_found()
    {
        Assert.True(Holds(typeof(Leaky)) && PrintsEverything(typeof(Leaky)));
        Assert.True(Holds(typeof(LeakyStruct)) && PrintsEverything(typeof(LeakyStruct)));
        Assert.True(Holds(typeof(LightQClientOptions)) && !PrintsEverything(typeof(LightQClientOptions)));
        Assert.True(Holds(typeof(User)) && !PrintsEverything(typeof(User)));
    }

    private static bool Holds(Type type) =>
        type.GetProperties(
                BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.DeclaredOnly
            )
            .Any(p =>
                IsText(p.PropertyType)
                && Words.Any(w => p.Name.EndsWith(w, StringComparison.Ordinal))
                && !Harmless.Contains(p.Name)
                && !Harmless.Contains($"{type.Name}.{p.Name}")
            );

    private static bool IsText(Type type) =>
        type == typeof(string) || type == typeof(byte[]) || type == typeof(ReadOnlyMemory<byte>);

    /// <summary>Whether its text is the one that the compiler makes of a record's properties.</summary>
    private static bool PrintsEverything(Type type) =>
        type.GetMethod(nameof(ToString), BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly, [])
            ?.GetCustomAttribute<CompilerGeneratedAttribute>()
            is not null;

    private readonly record struct LeakyStruct(byte[] Salt);

    private sealed record Leaky(string User, string Password);
}
