namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.DeadLetters</c>.</summary>
internal sealed class DeadLettersService : Protocol.Control.DeadLetters.DeadLettersBase;
