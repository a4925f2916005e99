using LightQ.Broker.Topics;
using LightQ.Broker.Users;

namespace LightQ.Server.Security;

/// <summary>
/// The caller, and the credentials that it has shown. It holds no rights: those are looked up when something is
/// opened.
/// </summary>
internal sealed class Principal
{
    private volatile bool _isRevoked;
    private string? _source;

    private Principal(PrincipalKind kind, string name) => (Kind, Name) = (kind, name);

    /// <summary>The kind of principal.</summary>
    public PrincipalKind Kind { get; }

    /// <summary>The number that the engine knows it by.</summary>
    public uint Number => NumberOf(Kind, Id);

    /// <summary>The user; <c>TOPIC/USER</c> for a topic's own.</summary>
    public string Name { get; }

    /// <summary>The user's or the topic's identity: another one of the same name is not meant.</summary>
    public Guid Id { get; private init; }

    /// <summary>The topic's name, of a <see cref="PrincipalKind.TopicUser"/>.</summary>
    public string TopicName { get; private init; } = "";

    /// <summary>
    /// Which of the user's passwords was shown; null when it was something else, or admin's own of a broker alone.
    /// </summary>
    public uint? PasswordGeneration { get; private init; }

    /// <summary>The hash of the topic's password that was in force.</summary>
    public string PasswordHash { get; private init; } = "";

    /// <summary>The hash of the lasting token that was shown; null when it was something else.</summary>
    public string? TokenHash { get; private init; }

    /// <summary>The login of the cluster whose token was shown; null when it was something else.</summary>
    public Guid? LoginId { get; private init; }

    /// <summary>Whether it is on this machine.</summary>
    public bool IsLocal { get; private init; }

    /// <summary>
    /// What gets a share of the limits (<see cref="LightQ.Broker.Shares"/>) wherever it comes from; null for clients
    /// that have not logged in, and for admin, who are told apart by their addresses alone.
    /// </summary>
    public string? Source => Kind is PrincipalKind.Anonymous or PrincipalKind.Admin ? null : _source ??= ToString();

    /// <summary>Whether it was given back: a logout ends what this login has opened.</summary>
    public bool IsRevoked => _isRevoked;

    /// <summary>The <see cref="UserNumber"/> of a principal.</summary>
    /// <param name="kind">Its kind.</param>
    /// <param name="id">Its identity.</param>
    public static uint NumberOf(PrincipalKind kind, Guid id) =>
        kind switch
        {
            PrincipalKind.Anonymous => UserNumber.None,
            PrincipalKind.Admin => UserNumber.Admin,
            PrincipalKind.TopicUser => UserNumber.TopicUser,
            PrincipalKind.User => UserNumber.Of(id),
            _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "a kind of principal"),
        };

    public static Principal Anonymous(bool isLocal) =>
        new(PrincipalKind.Anonymous, UserStore.Anonymous) { IsLocal = isLocal };

    /// <summary>The admin; each login is one of its own, so that it can be given back.</summary>
    /// <param name="tokenHash">The hash of the lasting token that was shown.</param>
    /// <param name="passwordGeneration">Which of the cluster's passwords was shown.</param>
    public static Principal Admin(string? tokenHash = null, uint? passwordGeneration = null) =>
        new(PrincipalKind.Admin, UserStore.Admin) { TokenHash = tokenHash, PasswordGeneration = passwordGeneration };

    /// <summary>A user that has shown its password.</summary>
    public static Principal OfPassword(User user) =>
        new(PrincipalKind.User, user.Name) { Id = user.Id, PasswordGeneration = user.PasswordGeneration };

    /// <summary>A user that has shown a lasting token.</summary>
    public static Principal OfToken(User user, string tokenHash) =>
        new(PrincipalKind.User, user.Name) { Id = user.Id, TokenHash = tokenHash };

    /// <summary>A user that its certificate names.</summary>
    public static Principal OfCertificate(User user) => new(PrincipalKind.User, user.Name) { Id = user.Id };

    public static Principal OfTopic(Topic topic, TopicCredentials credentials) =>
        new(PrincipalKind.TopicUser, $"{topic.Name}/{credentials.User}")
        {
            Id = topic.Id,
            TopicName = topic.Name,
            PasswordHash = credentials.Password,
        };

    /// <summary>A client of another node, with what it has shown there.</summary>
    public static Principal OfNode(
        PrincipalKind kind,
        string name,
        Guid id,
        string topic,
        uint? passwordGeneration,
        string passwordHash,
        string? tokenHash,
        Guid? loginId,
        bool isLocal
    ) =>
        new(kind, name)
        {
            Id = id,
            TopicName = topic,
            PasswordGeneration = passwordGeneration,
            PasswordHash = passwordHash,
            TokenHash = tokenHash,
            LoginId = loginId,
            IsLocal = isLocal,
        };

    /// <summary>The same, with a login that has an id.</summary>
    public Principal WithLogin(Guid id) =>
        OfNode(Kind, Name, Id, TopicName, PasswordGeneration, PasswordHash, TokenHash, id, IsLocal);

    /// <summary>Gives it back.</summary>
    public void Revoke() => _isRevoked = true;

    /// <summary>
    /// As in the audit: <c>user:alice</c>, <c>topic-user:orders/alice</c>, <c>admin</c>, <c>anonymous</c>.
    /// </summary>
    public override string ToString() =>
        Kind switch
        {
            PrincipalKind.User => "user:" + Name,
            PrincipalKind.TopicUser => "topic-user:" + Name,
            _ => Name,
        };
}
