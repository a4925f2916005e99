using System.Reflection;
using System.Reflection.Emit;
using LightQ.Cli.Output;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>What the tool knows of the client: what any program may, but for the relay of its bench.</summary>
public sealed class ToolTests
{
    private const string Relay = "LightQ.Cli.Bench.Relay";
    private const BindingFlags Declared = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private static readonly OpCode[] OneByte = new OpCode[256], TwoBytes = new OpCode[256];

    static ToolTests()
    {
        foreach (OpCode code in typeof(OpCodes).GetFields().Select(f => (OpCode)f.GetValue(null)!))
            (code.Size == 1 ? OneByte : TwoBytes)[(byte)code.Value] = code;
    }

    [Fact]
    public void The_tool_looks_into_the_client_in_its_relay_alone()
    {
        (Type User, string Used)[] uses = [.. typeof(CommandConsole).Assembly.GetTypes().SelectMany(t => InternalsOf(t).Select(used => (t, used)))];
        Assert.NotEmpty(uses); // The relay's: what is looked for is found.
        Assert.Empty(uses.Where(u => u.User.Namespace != Relay).Select(u => $"{u.User.FullName} uses {u.Used}"));
    }

    private static IEnumerable<string> InternalsOf(Type type) =>
        from method in type.GetMethods(Declared).Concat<MethodBase>(type.GetConstructors(Declared))
        from used in Named(method)
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

    /// <summary>The types and members that a method's instructions name.</summary>
    private static IEnumerable<MemberInfo> Named(MethodBase method)
    {
        byte[] code = method.GetMethodBody()?.GetILAsByteArray() ?? [];
        Type[] ofType = method.DeclaringType!.GetGenericArguments(), ofMethod = method.IsGenericMethod ? method.GetGenericArguments() : [];
        for (int at = 0; at < code.Length;)
        {
            OpCode instruction = code[at] == 0xFE ? TwoBytes[code[at + 1]] : OneByte[code[at]];
            at += instruction.Size;
            if (instruction.OperandType is OperandType.InlineMethod or OperandType.InlineField or OperandType.InlineType or OperandType.InlineTok)
                yield return method.Module.ResolveMember(BitConverter.ToInt32(code, at), ofType, ofMethod)!;
            at += instruction.OperandType switch
            {
                OperandType.InlineNone => 0,
                OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar => 1,
                OperandType.InlineVar => 2,
                OperandType.InlineI8 or OperandType.InlineR => 8,
                OperandType.InlineSwitch => 4 + (4 * BitConverter.ToInt32(code, at)),
                _ => 4,
            };
        }
    }
}
