namespace LightQ.Server;

/// <summary>Why a server does not start.</summary>
public enum ServerStartFailure
{
    /// <summary>A setting is unknown, has a value that is not allowed, or contradicts another.</summary>
    Configuration,

    /// <summary>Another program listens on the port.</summary>
    PortInUse,

    /// <summary>The address is not one of this machine's.</summary>
    Address,

    /// <summary>
    /// The user of the process has no permission to listen on the port, or to write the data directory.
    /// </summary>
    AccessDenied,

    /// <summary>The data directory cannot be used: another broker uses it, or it cannot be read or written.</summary>
    DataDirectory,

    /// <summary>The data in the data directory is damaged.</summary>
    DamagedData,
}
