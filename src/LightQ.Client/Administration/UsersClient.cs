using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>
/// Creates users, grants and revokes rights, and creates tokens. Reached by <see cref="LightQClient.Users"/>.
/// </summary>
/// <remarks>
/// Thread-safe. Uses the control plane (gRPC). A change is in force when its call returns, also for connections and
/// streams that are already open. Every method fails with a <see cref="LightQException"/>:
/// <see cref="ErrorCode.PermissionDenied"/> without the right Admin, <see cref="ErrorCode.UnknownUser"/>,
/// <see cref="ErrorCode.InvalidArgument"/>, or the broker cannot be reached.
/// </remarks>
/// <example>
/// <code>
/// await client.Users.CreateAsync("alice", password);
/// await client.Users.GrantAsync("alice", UserRight.Publish, "orders.*");
/// </code>
/// </example>
public sealed class UsersClient
{
    private readonly Protocol.Control.Auth.AuthClient _calls;
    private readonly Lazy<Protocol.Control.Auth.AuthClient> _secretCalls;

    internal UsersClient(ControlChannel channel)
    {
        _calls = new Protocol.Control.Auth.AuthClient(channel.Calls);
        _secretCalls = new Lazy<Protocol.Control.Auth.AuthClient>(() =>
            new Protocol.Control.Auth.AuthClient(channel.SecretCalls)
        );
    }

    /// <summary>The user as which the broker treats this client, and what that user may do.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<CallerInfo> WhoAmIAsync(CancellationToken cancellationToken = default)
    {
        WhoAmIResponse response = await _calls
            .WhoAmIAsync(new WhoAmIRequest(), cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new CallerInfo(response.User, response.IsAdmin, [.. response.Grants.Select(ToInfo)]);
    }

    /// <summary>Creates a user without rights. From the first user on, every client has to log in.</summary>
    /// <param name="name">The user's name. It follows the rule for topic names, and is not admin or anonymous.</param>
    /// <param name="password">8 to 500 characters; null for a user that logs in with tokens or a certificate.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">Also <see cref="ErrorCode.UserExists"/>.</exception>
    public async Task<UserInfo> CreateAsync(
        string name,
        string? password,
        CancellationToken cancellationToken = default
    )
    {
        var request = new CreateUserRequest { Name = name };
        if (password is not null)
            request.Password = password;
        return ToInfo(
            (
                await (password is null ? _calls : _secretCalls.Value)
                    .CreateUserAsync(request, cancellationToken: cancellationToken)
                    .ConfigureAwait(false)
            ).User
        );
    }

    /// <summary>
    /// Changes a password. What was opened with the old password is ended; long-lived tokens stay valid.
    /// </summary>
    /// <param name="name">The user; null for this client's own.</param>
    /// <param name="password">The new password: 8 to 500 characters.</param>
    /// <param name="currentPassword">
    /// The password in force. A user without the right Admin needs it to change its own password.
    /// </param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public Task SetPasswordAsync(
        string? name,
        string password,
        string? currentPassword = null,
        CancellationToken cancellationToken = default
    ) =>
        _secretCalls
            .Value.SetPasswordAsync(
                new SetPasswordRequest
                {
                    Name = name ?? "",
                    Password = password,
                    CurrentPassword = currentPassword ?? "",
                },
                cancellationToken: cancellationToken
            )
            .ResponseAsync;

    /// <summary>Deletes a user with its rights and tokens, and ends what the user has open.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public Task DeleteAsync(string name, CancellationToken cancellationToken = default) =>
        _calls
            .DeleteUserAsync(new DeleteUserRequest { Name = name }, cancellationToken: cancellationToken)
            .ResponseAsync;

    /// <summary>The users besides admin, by name.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<IReadOnlyList<UserInfo>> ListAsync(CancellationToken cancellationToken = default) =>
        [
            .. (
                await _calls
                    .ListUsersAsync(new ListUsersRequest(), cancellationToken: cancellationToken)
                    .ConfigureAwait(false)
            ).Users.Select(ToInfo),
        ];

    /// <summary>Gives a user a right.</summary>
    /// <param name="user">The user's name.</param>
    /// <param name="right">The right.</param>
    /// <param name="topic">
    /// A topic's name, a prefix followed by <c>*</c> such as <c>orders.*</c>, or <c>*</c>; null for
    /// <see cref="UserRight.Admin"/>.
    /// </param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>False when the user had exactly this right before.</returns>
    public async Task<bool> GrantAsync(
        string user,
        UserRight right,
        string? topic = null,
        CancellationToken cancellationToken = default
    ) =>
        (
            await _calls
                .GrantAsync(
                    new GrantRequest { Grant = ToGrant(user, right, topic) },
                    cancellationToken: cancellationToken
                )
                .ConfigureAwait(false)
        ).Added;

    /// <summary>Takes a right from a user, and ends the producers and subscriptions that need it.</summary>
    /// <param name="user">The user's name.</param>
    /// <param name="right">The right.</param>
    /// <param name="topic">The topic or prefix, as it was granted.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>False when the user did not have exactly this right.</returns>
    public async Task<bool> RevokeAsync(
        string user,
        UserRight right,
        string? topic = null,
        CancellationToken cancellationToken = default
    ) =>
        (
            await _calls
                .RevokeAsync(
                    new RevokeRequest { Grant = ToGrant(user, right, topic) },
                    cancellationToken: cancellationToken
                )
                .ConfigureAwait(false)
        ).Removed;

    /// <summary>The rights, by user.</summary>
    /// <param name="user">Only those of this user; null for all users.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<IReadOnlyList<UserGrantInfo>> ListGrantsAsync(
        string? user = null,
        CancellationToken cancellationToken = default
    ) =>
        [
            .. (
                await _calls
                    .ListGrantsAsync(new ListGrantsRequest { User = user ?? "" }, cancellationToken: cancellationToken)
                    .ConfigureAwait(false)
            ).Grants.Select(ToInfo),
        ];

    /// <summary>Creates a long-lived token, which outlives a login.</summary>
    /// <param name="user">The user; null for this client's own. <c>admin</c> is possible.</param>
    /// <param name="lifetime">How long the token is valid; null until it is revoked.</param>
    /// <param name="description">What it is for: at most 200 characters.</param>
    /// <param name="cancellationToken">Ends the wait; the broker may create the token nevertheless.</param>
    public async Task<CreatedToken> CreateTokenAsync(
        string? user = null,
        TimeSpan? lifetime = null,
        string description = "",
        CancellationToken cancellationToken = default
    )
    {
        var request = new CreateTokenRequest
        {
            User = user ?? "",
            Lifetime = lifetime?.ToDuration(),
            Description = description,
        };
        CreateTokenResponse response = await _secretCalls
            .Value.CreateTokenAsync(request, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new CreatedToken(response.Token, ToInfo(response.Info));
    }

    /// <summary>The long-lived tokens, oldest first.</summary>
    /// <param name="user">Only those of this user; null for all users.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<IReadOnlyList<TokenInfo>> ListTokensAsync(
        string? user = null,
        CancellationToken cancellationToken = default
    ) =>
        [
            .. (
                await _calls
                    .ListTokensAsync(new ListTokensRequest { User = user ?? "" }, cancellationToken: cancellationToken)
                    .ConfigureAwait(false)
            ).Tokens.Select(ToInfo),
        ];

    /// <summary>Revokes a long-lived token, and ends what was opened with it.</summary>
    /// <param name="id">The token's id.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">Also <see cref="ErrorCode.UnknownToken"/>.</exception>
    public Task RevokeTokenAsync(string id, CancellationToken cancellationToken = default) =>
        _calls.RevokeTokenAsync(new RevokeTokenRequest { Id = id }, cancellationToken: cancellationToken).ResponseAsync;

    private static UserGrant ToGrant(string user, UserRight right, string? topic) =>
        new()
        {
            User = user,
            Right = (Right)right,
            Topic = topic ?? "",
        };

    private static UserGrantInfo ToInfo(UserGrant grant) => new(grant.User, (UserRight)grant.Right, grant.Topic);

    private static UserInfo ToInfo(User user) =>
        new(
            user.Name,
            user.CreateTime.ToDateTimeOffset(),
            user.HasPassword,
            (int)user.GrantsCount,
            (int)user.TokensCount
        );

    private static TokenInfo ToInfo(Token token) =>
        new(
            token.Id,
            token.User,
            token.CreateTime.ToDateTimeOffset(),
            token.ExpireTime?.ToDateTimeOffset(),
            token.Description
        );
}
