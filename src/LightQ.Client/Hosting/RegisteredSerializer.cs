using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;

namespace LightQ.Client.Hosting;

/// <summary>The serializer of what a host registers without one.</summary>
internal static class RegisteredSerializer
{
    private const string Why = "Trimmed and native programs have no reflection for JSON unless they ask for it.";

    /// <summary>
    /// The one that the container has; without, <see cref="MessageSerializer.Default{T}"/>, as for a client's own
    /// publishes.
    /// </summary>
    /// <exception cref="InvalidOperationException">There is none, and no reflection for JSON.</exception>
    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = Why)]
    [UnconditionalSuppressMessage("AOT", "IL3050", Justification = Why)]
    public static IMessageSerializer<T> Of<T>(IServiceProvider services, string what) =>
        services.GetService<IMessageSerializer<T>>()
        ?? MessageSerializer.Plain<T>()
        ?? (
            JsonSerializer.IsReflectionEnabledByDefault
                ? MessageSerializer.Default<T>()
                : throw new InvalidOperationException(
                    $"The {what} has no serializer, and this program has no reflection for JSON: give it a "
                        + $"JsonMessageSerializer with a contract, or register an IMessageSerializer<{typeof(T).Name}>."
                )
        );
}
