using Microsoft.Extensions.Configuration;

namespace LightQ.Client.Hosting;

/// <summary>Where more stands of how a processor works; read when the processor is made.</summary>
/// <param name="Topic">The processor's topic.</param>
/// <param name="Group">Its group.</param>
/// <param name="Section">Its options.</param>
/// <param name="ClientKey">The key of its client; null for the one without.</param>
internal sealed record ProcessorChange(string Topic, string Group, IConfigurationSection Section, object? ClientKey)
{
    /// <summary>Whether it is about a processor.</summary>
    public bool IsOf(ProcessorRegistration processor) =>
        processor.Topic == Topic && processor.Group == Group && Equals(processor.ClientKey, ClientKey);
}
