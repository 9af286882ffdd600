import { DatabaseSync } from 'node:sqlite';

/** The application's own database. */
export function openShop(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec(`
    create table profile (user_id text primary key, email text not null) strict;
    create table charge (order_id text primary key, reference text not null) strict;
    create table orders (id text primary key, state text not null, parcel text) strict;
    create table report (name text primary key, fence integer not null, body text not null) strict`);
  return db;
}
