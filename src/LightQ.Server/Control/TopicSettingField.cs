using LightQ.Broker.Topics;
using Proto = LightQ.Protocol.Control;

namespace LightQ.Server.Control;

/// <summary>One field of TopicSettings: how it travels between the wire and the engine.</summary>
/// <param name="Name">The field's name in the .proto file.</param>
/// <param name="IsImmutable">Whether it is fixed at creation.</param>
/// <param name="IsSet">Whether a request says anything about it.</param>
/// <param name="Apply">Puts a request's value into the settings.</param>
/// <param name="Text">The value in force, for people.</param>
internal sealed record TopicSettingField(
    string Name,
    bool IsImmutable,
    Func<Proto.TopicSettings, bool> IsSet,
    Func<TopicSettings, Proto.TopicSettings, TopicSettings> Apply,
    Func<TopicSettings, string> Text
);
