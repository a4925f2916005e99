using LightQ.Bench.Checks;

namespace LightQ.Bench.InProcess;

/// <summary>A consumer's end; a struct, so that the loop around it is compiled for it.</summary>
internal interface IReceiver
{
    /// <summary>Hands over what is there; returns at once if there is nothing.</summary>
    void Receive(DeliveryCheck check);
}
