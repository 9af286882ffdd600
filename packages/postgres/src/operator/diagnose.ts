import { isSuretyError } from '@surety/core/errors';
import type { DiagnoseOptions, Finding, StoreAddress } from '@surety/core/operator';
import { checkClock } from './check-clock.ts';
import { checkHolders } from './check-holders.ts';
import { checkPooler } from './check-pooler.ts';
import { checkServer } from './check-server.ts';
import { checkTables } from './check-tables.ts';
import { pgVersion } from './client-version.ts';
import { note, ok, problem } from './findings.ts';
import { type Look, type Visit, visit } from './look.ts';
import { schemaOf } from './schema.ts';
import { TRIAL_SCHEMA } from './trial.ts';

/** Every check on its own: one that fails is a finding, and the others go on. */
export function diagnose(address: StoreAddress, options: DiagnoseOptions): Promise<readonly Finding[]> {
  return visit(address, 'diagnose', options.timeoutMs, async (guest) => {
    // Throws when the server cannot be reached or refuses us: then there is nothing to diagnose.
    await guest.connections.ask(guest.sql.diagnoseClock, [], guest.call);
    const look: Look = {
      schema: guest.schema,
      clientVersion: pgVersion(),
      longTransactionMs: options.longTransactionMs,
      ask: async (statement, values) =>
        (await guest.connections.ask(guest.sql[statement], values, guest.call)).rows,
    };
    const checks: readonly (readonly [string, () => Promise<readonly Finding[]>])[] = [
      ['server', () => checkServer(look)],
      ['schema', () => checkSchema(guest)],
      ['tables', () => checkTables(look)],
      ['open-transactions', () => checkHolders(look)],
      ['clock', () => checkClock(look)],
      ['pooler', () => checkPooler(guest.connections, guest.call)],
      ['trials', () => checkTrials(look)],
    ];
    const findings: Finding[] = [];
    for (const [check, run] of checks)
      findings.push(...(await run().catch((error) => [failed(check, error)])));
    return findings;
  });
}

async function checkSchema({ connections, sql, schema, call }: Visit): Promise<readonly Finding[]> {
  const { version, newest } = await schemaOf(connections, sql, schema, call);
  if (version === newest) return [ok('schema', `${schema}, version ${version}, up to date`)];
  if (version > newest) {
    const what = `${schema} has version ${version}, this version of the adapter knows ${newest}`;
    return [problem('schema', what, 'Update the Surety packages of this machine.')];
  }
  const what =
    version === 0
      ? `${schema} holds no Surety tables`
      : `${schema} has version ${version}, this version of the adapter needs ${newest}`;
  return [problem('schema', what, 'Run `surety migrate` with a role that may create the schema.')];
}

async function checkTrials({ ask }: Look): Promise<readonly Finding[]> {
  const left = (await ask('diagnoseTrials', [TRIAL_SCHEMA])).map(({ name }) => String(name));
  if (left.length === 0) return [ok('trials', 'nothing is left of `surety verify`')];
  const what = `left by a \`surety verify\` that is running or was killed: ${left.join(', ')}`;
  return [note('trials', what, `When none is running: drop schema "${left[0] ?? ''}" cascade;`)];
}

function failed(check: string, error: unknown): Finding {
  const what = isSuretyError(error) ? error.message : 'the check itself failed';
  return problem(check, what, 'Grant the role what the check reads, or run it as another role.');
}
