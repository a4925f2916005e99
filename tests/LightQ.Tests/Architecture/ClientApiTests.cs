using System.Reflection;
using System.Runtime.CompilerServices;
using LightQ.Client;
using LightQ.Client.Administration;
using Xunit;

namespace LightQ.Tests.Architecture;

/// <summary>What a user of the client has to know to call it.</summary>
public sealed class ClientApiTests
{
    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private const string Root = "LightQ.Client";

    private static readonly Type[] Exported = typeof(LightQClient).Assembly.GetExportedTypes();

    [Fact]
    public void Every_type_that_publishing_and_consuming_name_is_met_with_one_using()
    {
        Type[] named = OursNamedBy(Exported.Where(t => t.Namespace == Root && t != typeof(LightQClient)));
        Assert.Contains(typeof(ErrorCode), named);
        Assert.Contains(typeof(RecordView), named);
        Assert.All(named, type => Assert.Equal(Root, type.Namespace));
    }

    [Fact]
    public void Whoever_administers_needs_one_more()
    {
        Type[] named = OursNamedBy(Exported);
        Assert.Contains(typeof(TopicsClient), named);
        Assert.All(named, type => Assert.Contains(type.Namespace, (string?[])[Root, $"{Root}.Administration"]));
    }

    [Fact]
    public void What_the_client_and_the_protocol_share_has_one_name()
    {
        HashSet<string> client = [.. Exported.Select(type => type.FullName!)];
        Assert.DoesNotContain(typeof(ErrorCode).Assembly.GetExportedTypes(), type => client.Contains(type.FullName!));
        Assert.NotSame(typeof(LightQClient).Assembly, typeof(ErrorCode).Assembly);
    }

    [Fact]
    public void Every_asynchronous_method_ends_in_a_token_that_need_not_be_given()
    {
        MethodInfo[] methods =
        [
            .. Exported
                .SelectMany(type => type.GetMethods(Declared))
                .Where(method =>
                    method.Name.EndsWith("Async", StringComparison.Ordinal)
                    && !method.IsSpecialName
                    && method.Name != nameof(IAsyncDisposable.DisposeAsync)
                    // Waits for nothing; a handler whose token is cancelled still pauses.
                    && method.Name != nameof(ProcessMessageEventArgs.PauseAsync)
                )
                .Where(method =>
                    method.DeclaringType is { } type
                    && !type.Name.StartsWith(nameof(IMessageHandler), StringComparison.Ordinal)
                ),
        ];
        Assert.Contains(methods, method => method.Name == nameof(LightQClient.ConsumeAsync));
        Assert.Empty(
            methods
                .Where(method =>
                    method.GetParameters().LastOrDefault() is not { HasDefaultValue: true } last
                    || last.ParameterType != typeof(CancellationToken)
                    || last.Name != "cancellationToken"
                )
                .Select(method => $"{method.DeclaringType!.Name}.{method.Name}")
        );
    }

    [Fact]
    public void What_needs_reflection_says_so()
    {
        MethodBase[] reflecting =
        [
            .. Exported
                .SelectMany(type => type.GetMembers(Declared).OfType<MethodBase>())
                .Where(method =>
                    method
                        .GetCustomAttributesData()
                        .Any(data => data.AttributeType.Name == "RequiresUnreferencedCodeAttribute")
                ),
        ];
        Assert.Equal(
            [
                "JsonMessageSerializer`1..ctor",
                "LightQClient.ConsumeAsync",
                "LightQClient.PublishAsync",
                "MessageSerializer.Default",
            ],
            reflecting.Select(method => $"{method.DeclaringType!.Name}.{method.Name}").Order()
        );
        Assert.All(
            reflecting,
            method =>
                Assert.Contains(
                    method.GetCustomAttributesData(),
                    data => data.AttributeType.Name == "RequiresDynamicCodeAttribute"
                )
        );
    }

    private static IEnumerable<Type> Named(Type type)
    {
        IEnumerable<Type> types = type.GetMethods(Declared)
            .SelectMany(method =>
                method.GetParameters().Select(parameter => parameter.ParameterType).Append(method.ReturnType)
            )
            .Concat(
                type.GetConstructors()
                    .SelectMany(constructor => constructor.GetParameters())
                    .Select(parameter => parameter.ParameterType)
            )
            .Concat(type.GetFields(Declared).Select(field => field.FieldType))
            .Concat(type.GetEvents(Declared).Select(raised => raised.EventHandlerType!))
            .Concat(type.GetInterfaces())
            .Append(type.BaseType ?? typeof(object));
        return types.Where(named => named.GetCustomAttribute<CompilerGeneratedAttribute>() is null).SelectMany(Parts);
    }

    private static IEnumerable<Type> Parts(Type type)
    {
        if (type.GetElementType() is { } element)
            return Parts(element);
        if (type.IsGenericParameter)
            return [];
        return type.IsGenericType
            ? type.GetGenericArguments().SelectMany(Parts).Append(type.GetGenericTypeDefinition())
            : [type];
    }

    private static Type[] OursNamedBy(IEnumerable<Type> types) => [.. types.SelectMany(Named).Where(IsOurs).Distinct()];

    private static bool IsOurs(Type type) =>
        type.Assembly.GetName().Name!.StartsWith("LightQ.", StringComparison.Ordinal);
}
