using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Client;
using LightQ.IntegrationTests.Control;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Faults;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.IntegrationTests.Security;

/// <summary>
/// Who guesses passwords in <see cref="WrongLoginTests"/>, in a process of their own: twenty at a time, half of them on
/// each plane, until they are told to end.
/// </summary>
public sealed class LoginAttack : IDisposable
{
    /// <summary>A user that is there and has a password.</summary>
    internal const string User = "bob";

    /// <summary>
    /// Of so many guesses two are for a password that has to be hashed, about as many as a broker hashes behind wrong
    /// ones; the others are for the admin's.
    /// </summary>
    internal const int Cycle = 30;

    private const int AtOnce = 20;

    private readonly AttackProcess? _process;

    /// <summary>The process's own end, as a test.</summary>
    public LoginAttack() { }

    private LoginAttack(AttackProcess process) => _process = process;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>Starts the process and waits until it could begin.</summary>
    /// <param name="broker">Who is attacked; it has the user <see cref="User"/>.</param>
    internal static async Task<LoginAttack> PrepareAsync(FaultBroker broker) =>
        new(
            await AttackProcess.StartAsync(
                typeof(LoginAttack),
                nameof(The_guesses_of_an_attack),
                broker.DataPort,
                broker.ControlPort
            )
        );

    /// <summary>Begins to guess.</summary>
    internal Task BeginAsync() => _process!.TellAsync("begin");

    /// <summary>Ends it; another may begin.</summary>
    /// <returns>How many guesses were refused as wrong, and how many were answered in another way.</returns>
    internal async Task<(int Refused, int Unexpected)> EndAsync()
    {
        await _process!.TellAsync("end");
        int[] numbers = await _process.HearAsync();
        return (numbers[0], numbers[1]);
    }

    public void Dispose() => _process?.Dispose();

    /// <summary>The process itself: no test, but what a test of its own process runs.</summary>
    [Fact(Explicit = true)]
    public async Task The_guesses_of_an_attack()
    {
        if (AttackProcess.Arguments is not [int dataPort, int controlPort])
            throw new InvalidOperationException("It takes two ports.");
        using var channel = GrpcChannel.ForAddress($"http://127.0.0.1:{controlPort}");
        AttackProcess.Say(0);
        while (Console.In.ReadLine() is not null)
        {
            int guesses = 0,
                refused = 0,
                unexpected = 0;
            using var end = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
            Task told = Task.Run(Console.In.ReadLine, Cancel)
                // The console has no asynchronous reads, whatever their names say.
                .ContinueWith(_ => end.Cancel(), Cancel, TaskContinuationOptions.None, TaskScheduler.Default);
            await Task.WhenAll(
                Enumerable
                    .Range(0, AtOnce)
                    .Select(_ =>
                        Task.Run(async () =>
                        {
                            while (!end.IsCancellationRequested)
                            {
                                int guess = Interlocked.Increment(ref guesses);
                                if (
                                    guess % 2 == 0
                                        ? await IsRefusedByLoginAsync(channel, guess)
                                        : await IsRefusedByHelloAsync(dataPort, guess)
                                )
                                {
                                    Interlocked.Increment(ref refused);
                                }
                                else
                                {
                                    Interlocked.Increment(ref unexpected);
                                }
                            }
                        })
                    )
            );
            await told;
            AttackProcess.Say(refused, unexpected);
        }
    }

    private static string UserOf(int guess) =>
        (guess % Cycle) switch
        {
            1 => User,
            2 => $"nobody-{guess}",
            _ => "admin",
        };

    private static async Task<bool> IsRefusedByLoginAsync(GrpcChannel channel, int guess) =>
        await Record.ExceptionAsync(() =>
            channel.CallAsync<LoginRequest, LoginResponse>(
                "Login",
                new() { User = UserOf(guess), Password = $"guess {guess}" }
            )
        )
            is RpcException { StatusCode: StatusCode.Unauthenticated };

    private static async Task<bool> IsRefusedByHelloAsync(int port, int guess)
    {
        (RawClient client, FrameHeader header, byte[] body) = await RawClient.LogInAsync(
            port,
            HelloFrame.Plain,
            $"{UserOf(guess)}\0guess {guess}"
        );
        await using RawClient owned = client;
        return header.Type == FrameType.Error && FrameCodec.Read<ErrorFrame>(body).Code == ErrorCode.Unauthenticated;
    }
}
