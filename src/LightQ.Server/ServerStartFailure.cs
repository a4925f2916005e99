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

    /// <summary>This user may not do that: listen on the port, or write the data directory.</summary>
    AccessDenied,

    /// <summary>The data directory cannot be used: another broker holds it, or the disk refuses.</summary>
    DataDirectory,

    /// <summary>What the data directory holds is damaged.</summary>
    DamagedData,
}
