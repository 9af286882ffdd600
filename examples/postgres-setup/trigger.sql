create table customer (id uuid primary key default gen_random_uuid(), email text not null);

-- region: trigger
create function welcome_customer() returns trigger language plpgsql as $$
begin
  perform surety.enqueue(
    'customer.welcome',
    json_build_object('customerId', new.id),
    queue => 'mail',
    dedupe_key => 'welcome ' || new.id
  );
  return new;
end $$;

create trigger welcome after insert on customer for each row execute function welcome_customer();
-- endregion
