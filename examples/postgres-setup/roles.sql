-- region: roles
-- By the owner, after the first migration. Producers and workers are one role here.
grant usage on schema surety to surety_worker;
grant select, insert, update, delete on all tables in schema surety to surety_worker;
grant usage on all sequences in schema surety to surety_worker;
-- What later migrations of the same owner add.
alter default privileges in schema surety grant select, insert, update, delete on tables to surety_worker;
alter default privileges in schema surety grant usage on sequences to surety_worker;
-- endregion
