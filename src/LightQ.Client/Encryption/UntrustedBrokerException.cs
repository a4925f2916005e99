using System.Security.Authentication;

namespace LightQ.Client.Encryption;

/// <summary>
/// A broker's certificate is not accepted. Passes through everything that calls the check, so that the message arrives.
/// </summary>
internal sealed class UntrustedBrokerException(string message) : AuthenticationException(message);
