using System.Security.Cryptography;
using System.Text;
using LightQ.Broker.Users;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Security;

/// <summary>
/// The password of admin in a cluster: a hash in the catalog, which holds at every node. A node's own file sets it when
/// somebody has changed the file.
/// </summary>
/// <remarks>
/// The file <c>admin-password-seen</c> keeps what the node found in <c>admin-password</c> when it started last, as
/// SHA-256, or <c>none</c> where there was no such file. A file that differs was written on purpose. One that does not
/// is what the cluster has, or was overtaken by a change at another node. Where it is not known what was seen, the
/// cluster's password stays: an old one must not come back.
/// </remarks>
internal static class ClusterAdminPassword
{
    /// <summary>The name of the file with what was seen.</summary>
    public const string SeenName = "admin-password-seen";

    private const string NoFile = "none";

    /// <summary>Makes the catalog and this node's file agree, as far as the file sets the password.</summary>
    /// <returns>Null: the password is not one of this broker alone.</returns>
    /// <exception cref="ServerStartException">
    /// The file is empty or cannot be read, or the catalog does not take the password.
    /// </exception>
    public static string? Settle(string directory, UserStore users, ILogger logger)
    {
        string? file = AdminPassword.Read(directory, logger);
        string? seen = ReadSeen(directory);
        if (users.Table.Admin is null)
            file = Found(directory, file, users, logger);
        else if (file is not null && seen is not null && seen != DigestOf(file))
            Change(directory, file, users, logger);
        else if (file is not null && !PasswordHash.Verify(users.Table.Admin.Password, file))
            ServerLog.PasswordOvertaken(logger, Path.Combine(directory, AdminPassword.FileName));
        if (seen != DigestOf(file))
            AdminPassword.Write(Path.Combine(directory, SeenName), DigestOf(file));
        return null;
    }

    /// <summary>The cluster has no password yet: this node's becomes it, unless another node is faster.</summary>
    /// <returns>What is in the file then.</returns>
    private static string? Found(string directory, string? file, UserStore users, ILogger logger)
    {
        string password = file ?? AdminPassword.Create(directory, logger);
        if (Set(users, password, isFirst: true) || PasswordHash.Verify(users.Table.Admin!.Password, password))
            return password;
        string path = Path.Combine(directory, AdminPassword.FileName);
        if (file is null)
            File.Delete(path);
        else
            ServerLog.PasswordOvertaken(logger, path);
        return file;
    }

    /// <summary>Somebody has written another password into the file.</summary>
    private static void Change(string directory, string password, UserStore users, ILogger logger)
    {
        if (PasswordHash.Verify(users.Table.Admin!.Password, password))
            return;
        Set(users, password, isFirst: false);
        ServerLog.PasswordChanged(logger, Path.Combine(directory, AdminPassword.FileName));
    }

    private static bool Set(UserStore users, string password, bool isFirst)
    {
        try
        {
            return users.SetAdminPassword(PasswordHash.Create(password), isFirst);
        }
        catch (Broker.UnstoredException e)
        {
            throw new ServerStartException(
                ServerStartFailure.DataDirectory,
                $"The password of {UserStore.Admin} cannot be stored in the catalog of the cluster: {e.Message}",
                e
            );
        }
    }

    private static string? ReadSeen(string directory)
    {
        string path = Path.Combine(directory, SeenName);
        string? seen = File.Exists(path) ? File.ReadAllText(path).Trim() : null;
        return seen == NoFile || (seen?.Length == 2 * SHA256.HashSizeInBytes && seen.All(char.IsAsciiHexDigitUpper))
            ? seen
            : null;
    }

    private static string DigestOf(string? password) =>
        password is null ? NoFile : Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(password)));
}
