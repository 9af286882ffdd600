create table if not exists stock (item text primary key, pieces int not null);
create table if not exists orders (
  id uuid primary key,
  item text not null references stock,
  pieces int not null check (pieces > 0)
);
-- One receipt for an order: the natural key that makes the handler's effect idempotent.
create table if not exists receipt (order_id uuid primary key references orders, sent_at timestamptz not null default now());
