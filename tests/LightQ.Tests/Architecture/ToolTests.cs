using System.Reflection;
using LightQ.Bench;
using LightQ.Bench.Relay;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Server;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>
/// What the tool and its bench know of client and broker: what any program may, but for the bench's relay.
/// </summary>
public sealed class ToolTests
{
    private static readonly Assembly Client = typeof(LightQClient).Assembly,
        Server = typeof(LightQServer).Assembly;

    [Fact]
    public void The_tool_looks_into_neither_client_nor_broker() =>
        Assert.Empty(
            UsesOf(typeof(CommandConsole).Assembly, Client, Server).Select(u => $"{u.User.FullName} uses {u.Used}")
        );

    [Fact]
    public void The_bench_looks_into_the_client_in_its_relay_alone()
    {
        (Type User, string Used)[] uses = [.. UsesOf(typeof(BenchException).Assembly, Client, Server)];
        Assert.NotEmpty(uses); // The relay's: what is looked for is found.
        Assert.Empty(
            uses.Where(u => u.User.Namespace != typeof(RelayRole).Namespace)
                .Select(u => $"{u.User.FullName} uses {u.Used}")
        );
    }

    private static IEnumerable<(Type User, string Used)> UsesOf(Assembly assembly, params Assembly[] looked) =>
        assembly.GetTypes().SelectMany(t => InternalsOf(t, looked).Select(used => (t, used)));

    private static IEnumerable<string> InternalsOf(Type type, Assembly[] looked) =>
        from method in Instructions.CodeOf(type)
        from used in Instructions.NamedBy(method)
        let owner = used as Type ?? used.DeclaringType
        where owner is not null && looked.Contains(owner.Assembly) && !IsPublic(used)
        select $"{owner}.{used.Name}";

    private static bool IsPublic(MemberInfo member) =>
        member switch
        {
            Type type => type.IsVisible,
            MethodBase method => method.DeclaringType!.IsVisible
                && (method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly),
            FieldInfo field => field.DeclaringType!.IsVisible && field.IsPublic,
            _ => true,
        };
}
