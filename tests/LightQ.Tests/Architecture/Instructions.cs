using System.Reflection;
using System.Reflection.Emit;

namespace LightQ.Tests.Architecture;

/// <summary>What compiled code names.</summary>
internal static class Instructions
{
    /// <summary>The members that a type itself has.</summary>
    public const BindingFlags Declared =
        BindingFlags.Public
        | BindingFlags.NonPublic
        | BindingFlags.Instance
        | BindingFlags.Static
        | BindingFlags.DeclaredOnly;

    private static readonly OpCode[] OneByte = new OpCode[256],
        TwoBytes = new OpCode[256];

    static Instructions()
    {
        foreach (OpCode code in typeof(OpCodes).GetFields().Select(f => (OpCode)f.GetValue(null)!))
            (code.Size == 1 ? OneByte : TwoBytes)[(byte)code.Value] = code;
    }

    /// <summary>A type's methods and constructors.</summary>
    public static IEnumerable<MethodBase> CodeOf(Type type) =>
        type.GetMethods(Declared).Concat<MethodBase>(type.GetConstructors(Declared));

    /// <summary>The types and members that a method's instructions name.</summary>
    public static IEnumerable<MemberInfo> NamedBy(MethodBase method)
    {
        byte[] code = method.GetMethodBody()?.GetILAsByteArray() ?? [];
        Type[] ofType = method.DeclaringType!.GetGenericArguments(),
            ofMethod = method.IsGenericMethod ? method.GetGenericArguments() : [];
        for (int at = 0; at < code.Length; )
        {
            OpCode instruction = code[at] == 0xFE ? TwoBytes[code[at + 1]] : OneByte[code[at]];
            at += instruction.Size;
            if (
                instruction.OperandType
                is OperandType.InlineMethod
                    or OperandType.InlineField
                    or OperandType.InlineType
                    or OperandType.InlineTok
            )
            {
                yield return method.Module.ResolveMember(BitConverter.ToInt32(code, at), ofType, ofMethod)!;
            }

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

    /// <summary>
    /// The types that a type names anywhere: what it is, has, takes, returns and calls. Constants leave no trace.
    /// </summary>
    public static IEnumerable<Type> UsedBy(Type type)
    {
        IEnumerable<Type?> named =
        [
            type.BaseType,
            .. type.GetInterfaces(),
            .. type.GetFields(Declared).Select(f => f.FieldType),
            .. type.GetNestedTypes(Declared).SelectMany(UsedBy),
            .. CodeOf(type).SelectMany(SignatureOf),
            .. CodeOf(type).SelectMany(NamedBy).SelectMany(TypesOf),
        ];
        return named.OfType<Type>().SelectMany(Parts).Distinct();
    }

    private static IEnumerable<Type> SignatureOf(MethodBase method) =>
        [
            .. method.GetParameters().Select(p => p.ParameterType),
            .. method is MethodInfo { ReturnType: { } returned } ? [returned] : Type.EmptyTypes,
            .. method.GetMethodBody()?.LocalVariables.Select(l => l.LocalType) ?? [],
        ];

    private static IEnumerable<Type> TypesOf(MemberInfo member) =>
        member switch
        {
            Type type => [type],
            MethodInfo { IsGenericMethod: true } method => [.. method.GetGenericArguments(), method.DeclaringType!],
            _ => member.DeclaringType is { } owner ? [owner] : [],
        };

    /// <summary>A type, what it is made of, and the types around it.</summary>
    private static IEnumerable<Type> Parts(Type type)
    {
        if (type.HasElementType)
            return Parts(type.GetElementType()!);
        if (type.IsGenericParameter)
            return [];
        IEnumerable<Type> arguments = type.IsConstructedGenericType ? type.GetGenericArguments().SelectMany(Parts) : [];
        Type outermost = type.IsConstructedGenericType ? type.GetGenericTypeDefinition() : type;
        while (outermost.DeclaringType is { } around)
            outermost = around;
        return [outermost, .. arguments];
    }
}
