using LightQ.Client.Timing;

namespace LightQ.Client.Connections;

/// <summary>Gets what a client logs in with from where it is kept, anew for each login.</summary>
internal static class LoginSecrets
{
    /// <summary>The options with the token or the password in them.</summary>
    /// <exception cref="LightQException">
    /// <see cref="ErrorCode.Unauthenticated"/>: it cannot be read; the message says why, without the secret.
    /// </exception>
    public static async ValueTask<LightQClientOptions> ReadAsync(
        LightQClientOptions options,
        CancellationToken cancellationToken
    )
    {
        if (!options.HasSecretSource)
            return options;
        using var late = new CancellationTokenSource(options.ConnectTimeout, options.ConnectionTime);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        string what = options.HasToken ? "token" : "password";
        string? file = options.HasToken ? options.TokenFile : options.PasswordFile;
        Func<CancellationToken, ValueTask<string>>? provider = options.HasToken
            ? options.TokenProvider
            : options.PasswordProvider;
        try
        {
            // On the pool: the caller may be the client's own thread, which must not run what may block.
            string secret = await OwnTask
                .Run(async () =>
                    file is not null
                        ? (await File.ReadAllTextAsync(file, either.Token).ConfigureAwait(false)).Trim()
                        : await provider!(either.Token).ConfigureAwait(false)
                )
                .WaitAsync(either.Token)
                .ConfigureAwait(true);
            if (string.IsNullOrEmpty(secret))
                throw new InvalidDataException("it is empty");
            return options.HasToken
                ? options with
                {
                    Token = secret,
                    TokenFile = null,
                    TokenProvider = null,
                }
                : options with
                {
                    Password = secret,
                    PasswordFile = null,
                    PasswordProvider = null,
                };
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            throw;
        }
        catch (Exception e)
        {
            // Whatever a program's own function throws: it is tried again with the next login.
            string reason =
                e is OperationCanceledException
                    ? $"it has not come within {options.ConnectTimeout.TotalSeconds:0.###} s"
                    : e.Message;
            string where = file is null ? "from its provider" : $"from '{file}'";
            throw new LightQException(ErrorCode.Unauthenticated, $"The {what} {where} cannot be used: {reason}", e);
        }
    }
}
