using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.Users;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using Right = LightQ.Broker.Users.Right;
using TopicGrant = LightQ.Broker.Users.Grant;
using User = LightQ.Broker.Users.User;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Auth</c>.</summary>
internal sealed class AuthService(
    LightQBroker broker,
    Authenticator authenticator,
    AccessControl access,
    ISecurityEvents events,
    TimeProvider time
) : Protocol.Control.Auth.AuthBase
{
    private readonly UserStore _users = broker.Users;

    public override async Task<LoginResponse> Login(LoginRequest request, ServerCallContext context)
    {
        Principal principal = await authenticator
            .LogInAsync(request.User, request.Password, Origin.Control(context), context.CancellationToken)
            .ConfigureAwait(false);
        (string token, DateTimeOffset expires) = authenticator.IssueToken(principal);
        return new LoginResponse { Token = token, ExpireTime = expires.ToTimestamp() };
    }

    public override async Task<LogoutResponse> Logout(LogoutRequest request, ServerCallContext context)
    {
        string token =
            BearerToken.Read(context.GetHttpContext().Request.Headers.Authorization)
            ?? throw new BrokerException(
                ErrorCode.Unauthenticated,
                "There is no token to revoke: send it as metadata \"authorization: Bearer TOKEN\"."
            );
        if (!await authenticator.LogOutAsync(token, Origin.Control(context)).ConfigureAwait(false))
            throw new BrokerException(ErrorCode.InvalidArgument, "The token is a lasting one: RevokeToken ends it.");
        access.Review();
        return new LogoutResponse();
    }

    public override Task<WhoAmIResponse> WhoAmI(WhoAmIRequest request, ServerCallContext context)
    {
        Principal principal = CallPrincipal.Of(context);
        var response = new WhoAmIResponse { User = principal.Name, IsAdmin = access.IsAdmin(principal) };
        if (principal.Kind == PrincipalKind.User)
        {
            response.Grants.Add(_users.Get(principal.Name).Grants.Select(g => ToProto(principal.Name, g)));
        }
        else if (principal.Kind == PrincipalKind.TopicUser)
        {
            response.Grants.Add(
                new[] { Right.Publish, Right.Consume }.Select(r =>
                    ToProto(principal.Name, new TopicGrant(r, principal.TopicName))
                )
            );
        }

        return Task.FromResult(response);
    }

    public override async Task<CreateUserResponse> CreateUser(CreateUserRequest request, ServerCallContext context)
    {
        UserStore.CheckName(request.Name);
        string hash = "";
        if (request.HasPassword)
        {
            UserStore.CheckPassword(request.Password);
            hash = await authenticator
                .Passwords.CreateAsync(request.Password, context.CancellationToken)
                .ConfigureAwait(false);
        }
        access.DemandAdmin(CallPrincipal.Of(context)); // Hashing took its time.
        User user = await broker
            .Decisions.ChangeAsync(() => _users.Create(request.Name, hash), context.CancellationToken)
            .ConfigureAwait(false);
        await RaiseAsync(SecurityAction.UserCreated, context, user.Name).ConfigureAwait(false);
        return new CreateUserResponse { User = ToProto(user) };
    }

    public override async Task<SetPasswordResponse> SetPassword(SetPasswordRequest request, ServerCallContext context)
    {
        Principal principal = CallPrincipal.Of(context);
        string name = OwnOr(request.Name, principal);
        if (name == UserStore.Admin && _users.Table.Admin is null)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"The password of {UserStore.Admin} is in the file {AdminPassword.FileName} of the data directory: "
                    + $"write another into it, or delete it to have one made, and start the broker again."
            );
        }
        UserStore.CheckPassword(request.Password);
        if (!access.IsAdmin(principal))
        {
            await authenticator
                .LogInAsync(name, request.CurrentPassword, Origin.Control(context), context.CancellationToken)
                .ConfigureAwait(false);
        }

        string hash = await authenticator
            .Passwords.CreateAsync(request.Password, context.CancellationToken)
            .ConfigureAwait(false);
        access.DemandCurrent(principal); // Hashing took its time.
        await TakeAwayAsync(SecurityAction.PasswordChanged, context, name, "", () => Set(name, hash))
            .ConfigureAwait(false);
        return new SetPasswordResponse();
    }

    public override async Task<DeleteUserResponse> DeleteUser(DeleteUserRequest request, ServerCallContext context)
    {
        await TakeAwayAsync(SecurityAction.UserDeleted, context, request.Name, "", () => _users.Delete(request.Name))
            .ConfigureAwait(false);
        return new DeleteUserResponse();
    }

    public override Task<ListUsersResponse> ListUsers(ListUsersRequest request, ServerCallContext context) =>
        Task.FromResult(
            new ListUsersResponse
            {
                Users = { _users.Table.Users.Values.OrderBy(u => u.Name, StringComparer.Ordinal).Select(ToProto) },
            }
        );

    public override async Task<GrantResponse> Grant(GrantRequest request, ServerCallContext context)
    {
        (string user, TopicGrant grant) = Read(request.Grant);
        bool added = await broker
            .Decisions.ChangeAsync(() => _users.Grant(user, grant), context.CancellationToken)
            .ConfigureAwait(false);
        if (added)
            await RaiseAsync(SecurityAction.RightGranted, context, user, grant.ToString()).ConfigureAwait(false);
        return new GrantResponse { Added = added };
    }

    public override async Task<RevokeResponse> Revoke(RevokeRequest request, ServerCallContext context)
    {
        (string user, TopicGrant grant) = Read(request.Grant);
        bool removed = await events
            .RaiseForAsync(
                () => Event(SecurityAction.RightRevoked, context, user, grant.ToString()),
                () => broker.Decisions.ChangeAsync(() => _users.Revoke(user, grant), context.CancellationToken).AsTask()
            )
            .ConfigureAwait(false);
        return new RevokeResponse { Removed = removed };
    }

    public override Task<ListGrantsResponse> ListGrants(ListGrantsRequest request, ServerCallContext context)
    {
        DemandOwn(request.User, context);
        IEnumerable<User> users =
            request.User.Length != 0
                ? [_users.Get(request.User)]
                : _users.Table.Users.Values.OrderBy(u => u.Name, StringComparer.Ordinal);
        return Task.FromResult(
            new ListGrantsResponse { Grants = { users.SelectMany(u => u.Grants.Select(g => ToProto(u.Name, g))) } }
        );
    }

    public override async Task<CreateTokenResponse> CreateToken(CreateTokenRequest request, ServerCallContext context)
    {
        Principal principal = CallPrincipal.Of(context);
        string user = OwnOr(request.User, principal);
        if (principal.TokenHash is not null)
            access.DemandAdmin(principal); // Or one that leaks could outlive itself.
        DateTimeOffset? expires = request.Lifetime is null ? null : time.GetUtcNow() + ReadLifetime(request.Lifetime);
        string token = Authenticator.NewToken();
        AccessToken made = await broker
            .Decisions.ChangeAsync(
                () => _users.AddToken(user, Authenticator.HashOf(token), expires, request.Description),
                context.CancellationToken
            )
            .ConfigureAwait(false);
        await RaiseAsync(
                SecurityAction.TokenCreated,
                context,
                user,
                $"token {made.Id}, until {(expires is { } end ? end.ToString("u") : "revoked")}"
            )
            .ConfigureAwait(false);
        return new CreateTokenResponse { Token = token, Info = ToProto(made) };
    }

    public override Task<ListTokensResponse> ListTokens(ListTokensRequest request, ServerCallContext context)
    {
        DemandOwn(request.User, context);
        return Task.FromResult(
            new ListTokensResponse
            {
                Tokens =
                {
                    _users
                        .Table.Tokens.Values.Where(t =>
                            !_users.HasExpired(t) && (request.User.Length == 0 || t.User == request.User)
                        )
                        .OrderBy(t => t.Created)
                        .ThenBy(t => t.Id, StringComparer.Ordinal)
                        .Select(ToProto),
                },
            }
        );
    }

    public override async Task<RevokeTokenResponse> RevokeToken(RevokeTokenRequest request, ServerCallContext context)
    {
        Principal principal = CallPrincipal.Of(context);
        if (
            !access.IsAdmin(principal)
            && !_users.Table.Tokens.Values.Any(t => t.Id == request.Id && IsOwn(principal, t.User))
        )
        {
            access.DemandAdmin(principal); // It does not learn whether the token exists.
        }

        AccessToken token = _users.GetToken(request.Id);
        await TakeAwayAsync(
                SecurityAction.TokenRevoked,
                context,
                token.User,
                $"token {token.Id}",
                () => _users.RevokeToken(token.Id)
            )
            .ConfigureAwait(false);
        return new RevokeTokenResponse();
    }

    private void Set(string user, string hash)
    {
        if (user == UserStore.Admin)
            _users.SetAdminPassword(hash);
        else
            _users.SetPassword(user, hash);
    }

    private static bool IsOwn(Principal principal, string user) =>
        principal.Kind == PrincipalKind.User && principal.Name == user;

    /// <summary>The user that is meant: the caller itself, or another when the caller may do everything.</summary>
    private string OwnOr(string user, Principal principal)
    {
        if (user.Length == 0 && principal.Kind is PrincipalKind.User or PrincipalKind.Admin)
            return principal.Name;
        if (!IsOwn(principal, user))
            access.DemandAdmin(principal);
        return user.Length != 0
            ? user
            : throw new BrokerException(
                ErrorCode.InvalidArgument,
                "The user is missing, and the caller is not a user."
            );
    }

    private void DemandOwn(string user, ServerCallContext context)
    {
        if (!IsOwn(CallPrincipal.Of(context), user))
            access.DemandAdmin(CallPrincipal.Of(context));
    }

    private Task RaiseAsync(SecurityAction action, ServerCallContext context, string subject, string detail = "") =>
        events.RaiseAsync(Event(action, context, subject, detail));

    private Task<bool> TakeAwayAsync(
        SecurityAction action,
        ServerCallContext context,
        string subject,
        string detail,
        Action change
    ) =>
        events.RaiseForAsync(
            () => Event(action, context, subject, detail),
            async () =>
            {
                await broker.Decisions.ChangeAsync(change, context.CancellationToken).ConfigureAwait(false);
                return true;
            }
        );

    private static SecurityEvent Event(
        SecurityAction action,
        ServerCallContext context,
        string subject,
        string detail
    ) => new(action, CallPrincipal.Of(context).ToString(), Origin.Control(context), subject, detail);

    private static TimeSpan ReadLifetime(Duration lifetime) =>
        RequestTimes.Read(
            lifetime,
            "lifetime",
            new TimeSpan(ticks: 1),
            TimeSpan.FromDays(3650),
            "above 0 and at most 3650 days, or absent for a token without an end"
        );

    private static (string User, TopicGrant Grant) Read(UserGrant? grant) =>
        grant is null
            ? throw new BrokerException(ErrorCode.InvalidArgument, "grant is missing.")
            : (grant.User, TopicGrant.Create((Right)grant.Right, grant.Topic));

    private LightQ.Protocol.Control.User ToProto(User user)
    {
        return new()
        {
            Name = user.Name,
            CreateTime = user.Created.ToTimestamp(),
            HasPassword = user.Password.Length != 0,
            GrantsCount = (uint)user.Grants.Count,
            TokensCount = (uint)_users.Table.Tokens.Values.Count(t => t.User == user.Name && !_users.HasExpired(t)),
        };
    }

    private static UserGrant ToProto(string user, TopicGrant grant) =>
        new()
        {
            User = user,
            Right = (LightQ.Protocol.Control.Right)grant.Right,
            Topic = grant.Pattern,
        };

    private static Token ToProto(AccessToken token) =>
        new()
        {
            Id = token.Id,
            User = token.User,
            CreateTime = token.Created.ToTimestamp(),
            ExpireTime = token.Expires?.ToTimestamp(),
            Description = token.Description,
        };
}
