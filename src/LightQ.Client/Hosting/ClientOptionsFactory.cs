using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace LightQ.Client.Hosting;

/// <summary>
/// Makes the options of the application's clients, each under the name of its key. They are read when somebody asks for
/// them, so that they follow a configuration that has got further sources since they were registered.
/// </summary>
internal sealed class ClientOptionsFactory(
    IServiceProvider services,
    IEnumerable<ClientRegistration> clients,
    IEnumerable<ClientChange> changes,
    IEnumerable<ClientRedirect> redirects,
    ChangeCheck check
) : IOptionsFactory<LightQClientOptions>
{
    /// <exception cref="OptionsValidationException">They cannot be used; the message says why.</exception>
    public LightQClientOptions Create(string name)
    {
        // As of all services, the last registration counts.
        ClientRegistration client =
            clients.LastOrDefault(c => c.Name == name)
            ?? throw new InvalidOperationException(
                name.Length == 0
                    ? "The application has no LightQ client without a key."
                    : $"The application has no LightQ client with the key '{name}'."
            );
        ClientRedirect? redirect =
            redirects.LastOrDefault(r => r.Key is not null && Equals(r.Key, client.Key))
            ?? redirects.LastOrDefault(static r => r.Key is null);
        try
        {
            if (name == clients.First().Name)
                check.Check(); // Once.
            LightQClientOptions options = client.Read(redirect is not null);
            foreach (ClientChange change in changes.Where(c => Equals(c.Key, client.Key)))
                options = change.Apply(services, options);
            options = redirect?.Apply(options) ?? options;
            options.Check();
            return options.LoggerFactory is null
                ? options with
                {
                    LoggerFactory = services.GetService<ILoggerFactory>(),
                }
                : options;
        }
        catch (ArgumentException e)
        {
            // Without the exception itself: the words are for whoever configures, and the stack would hide them.
            throw new OptionsValidationException(name, typeof(LightQClientOptions), [e.Message]);
        }
    }
}
