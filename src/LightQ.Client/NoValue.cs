using System.Diagnostics.CodeAnalysis;
using System.Linq.Expressions;

namespace LightQ.Client;

/// <summary>Types whose objects are work, not values: as JSON they would say nothing of what they give.</summary>
internal static class NoValue
{
    /// <exception cref="ArgumentException">An object of this type cannot be a message.</exception>
    public static void ThrowIf(Type type)
    {
        if (WhyNot(type) is { } why)
            throw new ArgumentException($"A {NameOf(type)} cannot be a message: {why}.");
    }

    [UnconditionalSuppressMessage(
        "Trimming",
        "IL2070",
        Justification = "An interface that trimming has removed is used nowhere."
    )]
    private static string? WhyNot(Type type)
    {
        if (typeof(Task).IsAssignableFrom(type) || Is(type, typeof(ValueTask<>)) || type == typeof(ValueTask))
            return "await it, and publish what it gives";
        if (typeof(Stream).IsAssignableFrom(type))
            return "read it, and publish its bytes";
        if (typeof(IQueryable).IsAssignableFrom(type))
            return "run the query, and publish its rows one by one or as a list";
        if (Is(type, typeof(IAsyncEnumerable<>)) || type.GetInterfaces().Any(i => Is(i, typeof(IAsyncEnumerable<>))))
            return "publish its elements one by one";
        if (typeof(Delegate).IsAssignableFrom(type) || typeof(Expression).IsAssignableFrom(type))
            return "call it, and publish what it returns";
        return type == typeof(CancellationToken) ? "it is meant to be the argument cancellationToken" : null;
    }

    private static bool Is(Type type, Type definition) =>
        type.IsGenericType && type.GetGenericTypeDefinition() == definition;

    private static string NameOf(Type type) => type.Name.Split('`')[0];
}
