using Microsoft.Extensions.Options;

namespace LightQ.Client.Hosting;

/// <summary>A processor that a host is to run.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Group">The group.</param>
/// <param name="Options">How it works.</param>
/// <param name="Handler">The handler's type.</param>
/// <param name="Make">Makes a handler of one message, of the services of its scope.</param>
/// <param name="Configure">Changes the processor before it begins.</param>
/// <param name="ClientKey">The key of the client; null for the one without.</param>
internal sealed record ProcessorRegistration(
    string Topic,
    string Group,
    ProcessorOptions? Options,
    Type Handler,
    Func<IServiceProvider, IMessageHandler> Make,
    Action<IServiceProvider, LightQProcessor>? Configure,
    object? ClientKey
)
{
    /// <summary>How it works, of code and configuration.</summary>
    /// <exception cref="OptionsValidationException">The configuration cannot be used; the message says why.</exception>
    public ProcessorOptions ReadOptions(IEnumerable<ProcessorChange> changes)
    {
        ProcessorOptions options = Options ?? new ProcessorOptions();
        foreach (ProcessorChange change in changes.Where(c => c.IsOf(this)))
        {
            try
            {
                options = ProcessorSection.Read(change.Section, options);
            }
            catch (ArgumentException e)
            {
                // As of clients: without the exception itself, whose stack would hide the words.
                throw new OptionsValidationException($"{Topic} for {Group}", typeof(ProcessorOptions), [e.Message]);
            }
        }
        return options;
    }
}
