using Microsoft.Extensions.DependencyInjection;

namespace LightQ.Client.Hosting;

/// <summary>
/// Services that there may be one of for each client, by the client's key; null is that of the client without one.
/// </summary>
internal static class KeyedServices
{
    public static IServiceCollection Add<T>(
        this IServiceCollection services,
        object? key,
        Func<IServiceProvider, T> make
    )
        where T : class =>
        key is null ? services.AddSingleton(make) : services.AddKeyedSingleton(key, (provider, _) => make(provider));

    /// <exception cref="InvalidOperationException">There is none.</exception>
    public static T Of<T>(this IServiceProvider services, object? key)
        where T : notnull => key is null ? services.GetRequiredService<T>() : services.GetRequiredKeyedService<T>(key);
}
