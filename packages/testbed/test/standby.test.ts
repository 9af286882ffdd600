import { runPsql, startPostgres, startStandby } from '@surety/testbed';
import { expect, test } from 'vitest';

test('a standby has what the primary answered, refuses writes, and takes over once promoted', async () => {
  await using primary = await startPostgres();
  await using standby = await startStandby(primary);
  const answered = await runPsql(primary.url, 'create table kept (id int)', 'insert into kept values (1)');
  expect(answered).toMatchObject({ code: 0 });
  await primary.kill();
  expect(await runPsql(standby.url, 'select id from kept')).toMatchObject({ code: 0, stdout: '1\n' });
  const refused = await runPsql(standby.url, 'insert into kept values (2)', 'select 1');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.output).toContain('25006');
  await standby.promote();
  expect(await runPsql(standby.url, 'insert into kept values (2)')).toMatchObject({ code: 0 });
});
