using Microsoft.EntityFrameworkCore;

namespace OrderService;

/// <summary>What the worker writes: an invoice is written once, however often its message comes.</summary>
public sealed class Invoice
{
    public required string Id { get; init; } // The order's.
    public required decimal Total { get; init; }
}

/// <summary>A reminder that is on its way.</summary>
public sealed class PendingReminder
{
    public required string Id { get; init; } // The order's.
    public required string Handle { get; init; }
}

/// <summary>An order as it is now: a row of the projection.</summary>
public sealed class OrderRow
{
    public required string Id { get; init; }
    public required string Customer { get; init; }
    public required decimal Total { get; init; }
    public bool IsPaid { get; set; }
}

/// <summary>How far the projection has read a partition, and which version of it that was.</summary>
public sealed class ReadPosition
{
    public required int Id { get; init; } // The partition.
    public required int Version { get; set; }
    public required string Position { get; set; }
}

public sealed class ShopDb(DbContextOptions<ShopDb> options) : DbContext(options)
{
    public DbSet<Invoice> Invoices => Set<Invoice>();

    public DbSet<PendingReminder> Reminders => Set<PendingReminder>();

    public DbSet<OrderRow> Orders => Set<OrderRow>();

    public DbSet<ReadPosition> Positions => Set<ReadPosition>();

    // Keys are the shop's own, none is the database's to choose.
    protected override void OnModelCreating(ModelBuilder modelBuilder) =>
        modelBuilder.Entity<ReadPosition>().Property(position => position.Id).ValueGeneratedNever();
}
