using NATS.Client.Core;

namespace LightQ.Replication.Nats;

/// <summary>The settings of a connection to the servers.</summary>
internal static class NatsSettings
{
    /// <exception cref="ArgumentException">The file of the seed is none.</exception>
    public static NatsOpts Create(NatsEngineOptions options, string purpose)
    {
        (string? publicKey, string? seed) = options.SeedFile is { } file ? UserSeed.Read(file) : (null, null);
        return NatsOpts.Default with
        {
            Url = string.Join(',', options.Servers),
            Name = $"lightq/{options.ClusterName}/{purpose}",
            LoggerFactory = options.LoggerFactory,
            AuthOpts = NatsAuthOpts.Default with
            {
                CredsFile = options.CredentialsFile,
                NKey = publicKey,
                Seed = seed,
                Username = options.User,
                Password = options.Password,
            },
            TlsOpts = NatsTlsOpts.Default with
            {
                Mode = options.RequireTls ? TlsMode.Require : TlsMode.Auto,
                CaFile = options.CaFile,
                CertFile = options.CertificateFile,
                KeyFile = options.KeyFile,
            },
            ConnectTimeout = TimeSpan.FromSeconds(1),
            // A server that stands still keeps its connections: only pings find it out, in two to three seconds.
            PingInterval = TimeSpan.FromSeconds(1),
            MaxPingOut = 2,
            ReconnectWaitMin = TimeSpan.FromMilliseconds(100),
            ReconnectWaitMax = TimeSpan.FromSeconds(1),
            // A password that is changed on a running system is wrong for a while.
            IgnoreAuthErrorAbort = true,
            RequestTimeout = options.ChangeTimeout,
            // How long a command waits for room in the buffer, or for a connection.
            CommandTimeout = options.AppendTimeout,
            PublishTimeoutOnDisconnected = true,
            // A whole run of batches goes into it without waiting for the socket.
            WriterBufferSize = 2 * 1024 * 1024,
            ReaderBufferSize = 1024 * 1024,
        };
    }
}
