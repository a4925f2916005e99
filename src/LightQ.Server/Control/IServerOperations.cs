using LightQ.Server.Hosting;

namespace LightQ.Server.Control;

/// <summary>What is done to the server as a whole.</summary>
internal interface IServerOperations
{
    /// <summary>Lets clients finish; a drain that is under way goes on as it is.</summary>
    Drain BeginDrain(TimeSpan timeout);

    /// <summary>Has the server stop by itself; returns at once.</summary>
    void BeginStop();
}
