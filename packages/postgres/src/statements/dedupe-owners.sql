-- Who holds dedupe keys, and which ids are stored.
-- Inputs: $1 queues and $2 keys, parallel; $3 ids.
-- Rows: one per live record (queue, key, id) and one per stored id (queue and key null).
-- Locks: none.
select d.queue, d.key, d.job_id::text as id
from unnest($1::text[], $2::text[]) as asked (queue, key)
join {schema}.dedupe as d on d.queue = asked.queue and d.key = asked.key
where d.until > statement_timestamp()
union all
select null, null, id::text from {schema}.job where id = any($3::uuid[])
