using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Fuzzing;
using Xunit;

namespace LightQ.Tests.Server;

/// <summary>The features of a connection: who has them, and what goes only with them.</summary>
public sealed class SessionFeatureTests
{
    [Theory]
    [InlineData(0, 1, 0)]
    [InlineData(1, 0, 0)]
    [InlineData(1, 1, 1)]
    [InlineData(0, 2, 2)] // Every broker has the window.
    [InlineData(0, 4, 4)] // And refuses alone.
    [InlineData(0, 8, 8)] // And tells its time.
    [InlineData(1, 31, 15)] // One that this version does not know is left out.
    public void Welcome_grants_what_is_asked_for_and_there(ulong offered, ulong asked, ulong granted)
    {
        using var host = new SessionHost(offered);
        Assert.True(Serve(host, Hello(asked), answers: 1));
        Assert.Equal(granted, FrameCodec.Read<WelcomeFrame>(host.Answers[0].Body).Features);
    }

    [Theory]
    [InlineData(0, 1, 10_000)]
    [InlineData(1, 0, 10_000)]
    [InlineData(1, 1, 1_000)] // Another broker of a cluster may serve it: it is to find out soon.
    public void Heartbeats_are_short_where_a_client_knows_clusters(ulong offered, ulong asked, uint milliseconds)
    {
        using var host = new SessionHost(offered);
        Assert.True(Serve(host, Hello(asked), answers: 1));
        Assert.Equal(milliseconds, FrameCodec.Read<WelcomeFrame>(host.Answers[0].Body).HeartbeatMilliseconds);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    public void Without_the_feature_the_level_replicated_is_a_malformed_frame(ulong offered, ulong asked)
    {
        using var host = new SessionHost(offered);
        Assert.False(Serve(host, [.. Hello(asked), .. Open(Durability.Replicated)], answers: 2));
        Assert.Equal(FrameType.Error, host.Answers[^1].Header.Type);
        Assert.Equal(ErrorCode.MalformedFrame, FrameCodec.Read<ErrorFrame>(host.Answers[^1].Body).Code);
    }

    [Fact]
    public void With_the_feature_a_topic_without_replicas_refuses_the_level_and_the_connection_lives_on()
    {
        using var host = new SessionHost(ProtocolFeatures.Cluster);
        Assert.True(Serve(host, [.. Hello(ProtocolFeatures.Cluster), .. Open(Durability.Replicated)], answers: 2));
        Assert.Equal((FrameType.Closed, 1u), (host.Answers[1].Header.Type, host.Answers[1].Header.Stream));
        Assert.Equal(ErrorCode.NotSupported, FrameCodec.Read<ClosedFrame>(host.Answers[1].Body).Code);
    }

    [Fact]
    public void Without_the_feature_Window_is_an_unexpected_frame()
    {
        using var host = new SessionHost();
        Assert.False(Serve(host, [.. Hello(0), .. Frame(new WindowFrame(5, 1), 1)], answers: 2));
        Assert.Equal(ErrorCode.UnexpectedFrame, FrameCodec.Read<ErrorFrame>(host.Answers[^1].Body).Code);
    }

    [Fact]
    public void Window_ends_a_stream_that_has_none()
    {
        using var host = new SessionHost();
        byte[] resize = Frame(new WindowFrame(5, 1), 1);
        Assert.True(
            Serve(host, [.. Hello(ProtocolFeatures.Window), .. Open(Durability.Default), .. resize], answers: 3)
        );
        Assert.Equal((FrameType.Closed, 1u), (host.Answers[2].Header.Type, host.Answers[2].Header.Stream));
        Assert.Equal(ErrorCode.InvalidArgument, FrameCodec.Read<ClosedFrame>(host.Answers[2].Body).Code);
    }

    /// <summary>Serves until it is answered: a session whose input ends at once may be gone before.</summary>
    private static bool Serve(SessionHost host, byte[] input, int answers)
    {
        bool isServed;
        do isServed = host.Serve(input);
        while (host.Answers.Count < answers);
        return isServed;
    }

    private static byte[] Hello(ulong features) =>
        Frame(new HelloFrame(1, 1, features, "test", HelloFrame.Anonymous, ""));

    private static byte[] Open(Durability level) => Frame(new OpenProducerFrame(SessionHost.Topic, 0, level, ""), 1, 1);

    private static byte[] Frame<TBody>(TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>
    {
        byte[] bytes = new byte[FrameHeader.Size + body.MaxSize];
        return bytes[..FrameCodec.Write(bytes, body, stream, tag)];
    }
}
