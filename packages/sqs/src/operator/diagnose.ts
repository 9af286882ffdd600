import type { CallOptions } from '@surety/core/contract';
import { isSuretyError } from '@surety/core/errors';
import type { Finding, StoreAddress } from '@surety/core/operator';
import type { Call } from '../call.ts';
import { namesOf, queueIn } from '../names.ts';
import { readAttributes } from '../operations/attributes.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Session } from '../session.ts';
import { lookingOptions } from './address.ts';
import { clientVersion } from './client-version.ts';
import { queuesUnder, TRIAL_PREFIX } from './trial.ts';
import { visit } from './visit.ts';

/** The service refuses signatures that are off by five minutes; this is worth a word. */
const CLOCK_NOTE_MS = 30_000;
/** Of 120,000 messages that may be hidden in one queue. */
const HIDDEN_NOTE = 60_000;
const HIDDEN_PROBLEM = 100_000;

/** Every check on its own: one that fails is a finding, and the others go on. */
export function diagnose(address: StoreAddress, options: CallOptions): Promise<readonly Finding[]> {
  const resolved = lookingOptions(address);
  return visit(resolved, 'diagnose', options, async (session, call) => {
    const urls = await queuesUnder(session, `${resolved.prefix}-`, call).catch((error: unknown) => error);
    const found: Finding[] = [service(resolved), clock(session)];
    if (!Array.isArray(urls)) return [...found, failed('queues', urls)];
    const queues = (urls as readonly string[]).flatMap((url) => queueIn(resolved.prefix, url) ?? []);
    for (const queue of new Set([...queues, ...resolved.queues]))
      found.push(...(await look(session, queue, call)));
    if (queues.length === 0) found.push(ok('queues', `there are none under the prefix ${resolved.prefix}`));
    return [...found, ...(await trials(session, call))];
  });
}

function service({ region, endpoint }: ResolvedOptions): Finding {
  return ok(
    'service',
    `${endpoint ?? `Amazon SQS, ${region}`} answers; @aws-sdk/client-sqs ${clientVersion()}`,
  );
}

function clock(session: Session): Finding {
  const offMs = Math.abs(session.clock.likely() - Date.now());
  if (offMs < CLOCK_NOTE_MS)
    return ok('clock', "this machine's clock agrees with the service's to a second or so");
  return {
    check: 'clock',
    level: 'note',
    what: `this machine's clock is ${Math.round(offMs / 1000)} s off the service's`,
    remedy: 'Let NTP keep the clock: from five minutes on the service refuses signatures.',
  };
}

async function look(session: Session, queue: string, call: Call): Promise<readonly Finding[]> {
  const check = `queue ${queue}`;
  try {
    const urls = await session.topology.of(queue, call);
    const figures = await Promise.all(
      [urls.ready, urls.delay].map((url) =>
        readAttributes(
          session,
          url,
          ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
          call,
        ),
      ),
    );
    const [ready, delay] = figures.map((each) => ({
      visible: Number(each.ApproximateNumberOfMessages ?? 0),
      hidden: Number(each.ApproximateNumberOfMessagesNotVisible ?? 0),
    }));
    const found: Finding[] = [
      ok(
        check,
        `about ${ready?.visible} ready, ${ready?.hidden} held, ${(delay?.visible ?? 0) + (delay?.hidden ?? 0)} due later`,
      ),
    ];
    found.push(...hiddenIn(check, namesOf(session.options.prefix, queue).ready, ready?.hidden ?? 0));
    return found;
  } catch (error) {
    return [failed(check, error)];
  }
}

function hiddenIn(check: string, name: string, hidden: number): readonly Finding[] {
  if (hidden < HIDDEN_NOTE) return [];
  const what = `about ${hidden} messages of ${name} are held; at 120,000 the service hands out no more`;
  return [
    {
      check,
      level: hidden < HIDDEN_PROBLEM ? 'note' : 'problem',
      what,
      remedy: 'Find the workers that hold so many, or spread the work over more queues.',
    },
  ];
}

async function trials(session: Session, call: Call): Promise<readonly Finding[]> {
  try {
    const left = await queuesUnder(session, TRIAL_PREFIX, call);
    if (left.length === 0) return [ok('trials', 'nothing is left of `surety verify`')];
    const what = `${left.length} queues left by a \`surety verify\` that is running or was killed: ${TRIAL_PREFIX}*`;
    return [note('trials', what, 'When none is running, delete them.')];
  } catch (error) {
    return [failed('trials', error)];
  }
}

function failed(check: string, error: unknown): Finding {
  const { message, remedy } = isSuretyError(error)
    ? {
        message: error.message.slice(0, error.message.length - error.remedy.length).trim(),
        remedy: error.remedy,
      }
    : { message: 'the check itself failed', remedy: 'Report it.' };
  return { check, level: 'problem', what: message, remedy };
}

function ok(check: string, what: string): Finding {
  return { check, level: 'ok', what, remedy: null };
}

function note(check: string, what: string, remedy: string): Finding {
  return { check, level: 'note', what, remedy };
}
