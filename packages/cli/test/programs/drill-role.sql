-- region: rights
-- All that a drill needs: it makes a schema of its own, works in it and drops it. Your schema is none of its business.
create role surety_drill login password 'choose-one';
grant connect, create on database app to surety_drill;
-- endregion
