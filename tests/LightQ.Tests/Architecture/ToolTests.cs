using System.Reflection;
using LightQ.Cli.Output;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>What the tool knows of the client: what any program may, but for the relay of its bench.</summary>
public sealed class ToolTests
{
    private const string Relay = "LightQ.Cli.Bench.Relay";

    [Fact]
    public void The_tool_looks_into_the_client_in_its_relay_alone()
    {
        (Type User, string Used)[] uses = [.. typeof(CommandConsole).Assembly.GetTypes().SelectMany(t => InternalsOf(t).Select(used => (t, used)))];
        Assert.NotEmpty(uses); // The relay's: what is looked for is found.
        Assert.Empty(uses.Where(u => u.User.Namespace != Relay).Select(u => $"{u.User.FullName} uses {u.Used}"));
    }

    private static IEnumerable<string> InternalsOf(Type type) =>
        from method in Instructions.CodeOf(type)
        from used in Instructions.NamedBy(method)
        let owner = used as Type ?? used.DeclaringType
        where owner?.Assembly == typeof(LightQClient).Assembly && !IsPublic(used)
        select $"{owner}.{used.Name}";

    private static bool IsPublic(MemberInfo member) => member switch
    {
        Type type => type.IsVisible,
        MethodBase method => method.DeclaringType!.IsVisible && (method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly),
        FieldInfo field => field.DeclaringType!.IsVisible && field.IsPublic,
        _ => true,
    };
}
