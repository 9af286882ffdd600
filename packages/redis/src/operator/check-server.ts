import type { Finding } from '@surety/core/operator';
import { isBefore, OLDEST } from '../operations/read-server.ts';
import { clientVersion } from './client-version.ts';
import { note, ok, orFine, problem } from './findings.ts';
import { figureOf, type Look } from './look.ts';

type Info = ReadonlyMap<string, string>;

const CLIENTS_SHARE = 0.9;
/** A replica tells of itself once a second. */
const LAG_S = 10;

/** Name and version of a server, as people know them: a Valkey tells beside its own which Redis it is like. */
export function productOf(info: Info): string {
  const valkey = info.get('valkey_version');
  return valkey === undefined
    ? `Redis ${info.get('redis_version') ?? 'of unknown version'}`
    : `Valkey ${valkey}`;
}

/** Version, part in the fleet, replicas and connections. */
export function checkServer({ info, setting }: Look, inCluster: boolean): readonly Finding[] {
  if (info === null) {
    return [
      note(
        'server',
        'this user may not call INFO: version, persistence, memory and replicas were not looked at',
        'Allow it: ACL SETUSER NAME +info +config|get.',
      ),
    ];
  }
  return [
    ...kind(info, inCluster),
    ...replicas(info, Number(setting('min-replicas-to-write') ?? 0)),
    ...clients(info),
  ];
}

function kind(info: Info, inCluster: boolean): readonly Finding[] {
  const what = `${productOf(info)}, client ioredis ${clientVersion()}`;
  return orFine(
    [
      isBefore(info.get('redis_version') ?? '', OLDEST)
        ? problem('server', `${what}: older than 7.0`, 'Upgrade the server.')
        : null,
      info.get('redis_mode') === 'sentinel'
        ? problem('server', 'a Sentinel: it keeps no jobs', 'Name the server that it watches.')
        : null,
      info.get('cluster_enabled') === '1' && !inCluster
        ? problem('server', 'the server belongs to a cluster', 'Put ?cluster at the end of the URL.')
        : null,
      info.get('role') === 'slave'
        ? problem('server', 'a replica: nothing can be stored', 'Point the URL at the primary.')
        : null,
    ],
    ok('server', what),
  );
}

function replicas(info: Info, needed: number): readonly Finding[] {
  const count = figureOf(info, 'connected_slaves');
  const lags = [...info]
    .filter(([name]) => /^slave\d+$/.test(name))
    .map(([, value]) => Number(/lag=(\d+)/.exec(value)?.[1] ?? 0));
  const lagS = Math.max(0, ...lags);
  const good = figureOf(info, 'min_slaves_good_slaves', count);
  return orFine(
    [
      good < needed
        ? problem(
            'replication',
            `min-replicas-to-write is ${needed}, and ${good} are in reach: writes are refused`,
            'Bring a replica back.',
          )
        : null,
      lagS > LAG_S
        ? note(
            'replication',
            `a replica has not been heard for ${lagS} s: a failover to it would lose jobs`,
            'See to its network and its load.',
          )
        : null,
    ],
    ok(
      'replication',
      count === 0
        ? 'a primary without replicas'
        : `a primary with ${count} replicas, the last heard within ${lagS} s`,
    ),
  );
}

function clients(info: Info): readonly Finding[] {
  const used = figureOf(info, 'connected_clients');
  const most = figureOf(info, 'maxclients', Number.POSITIVE_INFINITY);
  const blocked = figureOf(info, 'blocked_clients');
  const what = `${used} of ${most} connections in use, ${blocked} of them wait for jobs or the like`;
  if (used < most * CLIENTS_SHARE) return [ok('connections', what)];
  return [problem('connections', what, 'Find who holds so many (CLIENT LIST), or raise maxclients.')];
}
