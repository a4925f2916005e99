using System.IO.Pipelines;
using Google.Protobuf;
using LightQ.Grpc;
using LightQ.Grpc.AspNetCore.Reflection;
using LightQ.Grpc.AspNetCore.Reflection.V1;
using LightQ.Grpc.Framing;
using LightQ.Protocol.Control;
using LightQ.Tests.Protocol;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>gRPC's own layer above HTTP/2: messages in their frames, time-outs, metadata, status texts.</summary>
internal static class GrpcTargets
{
    private const int MaxMessage = 4096;
    private static readonly HashSet<Type> Refusals = [typeof(GrpcException)];

    public static IEnumerable<FuzzTarget> All()
    {
        yield return new FuzzTarget
        {
            Name = "grpc-timeouts",
            What = "the header grpc-timeout, and written again",
            Parse = Timeout,
            Seeds = FuzzText.Bytes("1S", "99999999H", "250m", "0n"),
            Tokens = FuzzText.Bytes("H", "u", "n", "-", "+", "99999999", "100000000", "\u0661"),
            MaxLength = 32,
        };
        yield return new FuzzTarget
        {
            Name = "grpc-status-texts",
            What = "a status text, encoded and decoded",
            Parse = StatusText,
            Seeds = FuzzText.Bytes("plain", "100%25 caf%C3%A9", "\u00E9\n\u6F22"),
            Tokens = FuzzText.Bytes("%", "%%", "%0", "%G0", "%FF", "% 1", "%+1"),
            MaxLength = 128,
        };
        yield return new FuzzTarget
        {
            Name = "grpc-metadata",
            What = "received metadata",
            Parse = Metadata,
            Seeds = FuzzText.Bytes("authorization\0Bearer abc", "x-trace-bin\0AQID,BAU=", "x\0y"),
            Tokens = FuzzText.Bytes("-bin", "\0", ",", "=", "==", ":", "grpc-status", "A", " "),
            MaxLength = 128,
        };
        yield return new FuzzTarget
        {
            Name = "grpc-messages",
            What = "messages in their frames, in several pieces",
            Parse = Messages,
            Seeds = [Framed(ServerTargets.PublishSeed()), [.. Framed(new PublishRequest { Topic = "a" }), .. Framed(new PublishRequest())], Framed(new PublishRequest { Messages = { new PublishedMessage { Tombstone = true } } })],
            Tokens = [[0x22, 0xFE, 0xFF, 0xFF, 0xFF, 7]],
            Seal = (buffer, length) =>
            {
                if (length > GrpcFrame.PrefixLength)
                    System.Buffers.Binary.BinaryPrimitives.WriteInt32BigEndian(buffer.AsSpan(1), length - GrpcFrame.PrefixLength);
            },
            Refusals = Refusals,
            MaxLength = 512,
            GateExecutions = 100_000,
        };
        var index = new DescriptorIndex([.. MessagesReflection.Descriptor.Services, .. TopicsReflection.Descriptor.Services]);
        yield return new FuzzTarget
        {
            Name = "grpc-reflection",
            What = "a reflection request",
            Parse = input => Reflection(index, input),
            Seeds =
            [
                new ServerReflectionRequest { ListServices = "*" }.ToByteArray(),
                new ServerReflectionRequest { FileContainingSymbol = "lightq.control.v1.Messages" }.ToByteArray(),
                new ServerReflectionRequest { FileContainingExtension = new ExtensionRequest { ContainingType = "a.B", ExtensionNumber = 3 } }.ToByteArray(),
            ],
            Refusals = new HashSet<Type> { typeof(InvalidProtocolBufferException) },
            MaxLength = 256,
        };
    }

    private static bool Timeout(ReadOnlySpan<byte> input)
    {
        if (!GrpcTimeout.TryParse(FuzzText.Of(input), out TimeSpan timeout))
            return false;
        ThrowUnless(timeout >= TimeSpan.Zero && GrpcTimeout.ToTimer(timeout) >= TimeSpan.Zero, "a time-out is not below zero");
        ThrowUnless(GrpcTimeout.TryParse(GrpcTimeout.Format(timeout), out TimeSpan again) && again >= timeout, "a time-out that is written is not shorter");
        return true;
    }

    private static bool StatusText(ReadOnlySpan<byte> input)
    {
        string text = System.Text.Encoding.UTF8.GetString(input);
        _ = PercentEncoding.Decode(text);
        string encoded = PercentEncoding.Encode(text);
        ThrowUnless(encoded.AsSpan().IndexOfAnyExceptInRange(' ', '~') < 0 && PercentEncoding.Decode(encoded) == text, "an encoded text is printable and decodes to the text");
        return true;
    }

    private static bool Metadata(ReadOnlySpan<byte> input)
    {
        string[] parts = FuzzText.Of(input).Split('\0', 2);
        GrpcMetadata metadata = [];
        metadata.AddReceived(parts[0], parts[^1]);
        foreach (GrpcMetadataEntry entry in metadata)
            ThrowUnless(!entry.IsBinary || metadata.GetBytes(entry.Name) is not null, "what is binary has bytes");
        return metadata.Count != 0;
    }

    private static byte[] Framed(PublishRequest message)
    {
        byte[] bytes = new byte[GrpcFrame.PrefixLength + message.CalculateSize()];
        GrpcFrame.Write(message, message.CalculateSize(), bytes);
        return bytes;
    }

    private static bool Messages(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty)
            return false;
        byte[] bytes = input.ToArray();
        int first = bytes[^1] % (bytes.Length + 1);
        var pipe = PipeReader.Create(Segments.Of(bytes, first, first + ((bytes.Length - first) / 2)));
        var reader = new GrpcMessageReader(pipe, MaxMessage, encoding: null);
        int count = 0;
        while (true)
        {
            Task<PublishRequest?> read = reader.ReadAsync(PublishRequest.Parser, CancellationToken.None).AsTask();
            ThrowUnless(read.IsCompleted, "what is all there is read at once");
            if (read.GetAwaiter().GetResult() is null)
                return count != 0;
            count++;
        }
    }

    private static bool Reflection(DescriptorIndex index, ReadOnlySpan<byte> input)
    {
        if (ServerTargets.Parse(ServerReflectionRequest.Parser, input) is not { } request)
            return false;
        return request.MessageRequestCase switch
        {
            ServerReflectionRequest.MessageRequestOneofCase.FileByFilename => index.FindFile(request.FileByFilename) is not null,
            ServerReflectionRequest.MessageRequestOneofCase.FileContainingSymbol => index.FindSymbol(request.FileContainingSymbol) is not null,
            ServerReflectionRequest.MessageRequestOneofCase.FileContainingExtension =>
                index.FindExtension(request.FileContainingExtension.ContainingType, request.FileContainingExtension.ExtensionNumber) is null,
            ServerReflectionRequest.MessageRequestOneofCase.AllExtensionNumbersOfType => index.FindExtensionNumbers(request.AllExtensionNumbersOfType) is not null,
            _ => true,
        };
    }
}
