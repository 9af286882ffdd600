-- Purpose: due time of the oldest ready job of one level. Behind the first ticket with due = place no older one can
--   stand, because due >= place everywhere; before it stand only those that came back to their old place.
-- Inputs: queue, priority, queue, priority. Rows: one.
-- Locks: none. Safe: both halves walk the primary key from the front and stop at that ticket.
select min(due) as due from surety_ticket
where queue = ? and priority = ? and place <= coalesce(
  (select place from surety_ticket where queue = ? and priority = ? and due = place order by place, seq limit 1),
  9223372036854775807)
