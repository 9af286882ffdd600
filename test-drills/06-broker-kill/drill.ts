import type { Drill } from '../stage/drill.ts';
import { throughOutages } from '../stage/traffic/through-outages.ts';

/** See README.md. */
export const brokerKill: Drill = {
  name: 'broker-kill',
  summary: 'the server is killed under load: nothing that was accepted is lost, work goes on by itself',
  needs: ['server'],
  limitMs: 400_000,
  run: (stage) =>
    throughOutages(stage, {
      fault: 'broker-kill',
      times: stage.quick ? 1 : 3,
      goes: (server) => server.kill(),
      // Where a lease hangs on a connection, its end is an acknowledgement, which no such broker writes before it counts it.
      mayUndo: stage.capabilities.lease.endsBy === 'time-or-connection',
    }),
};
