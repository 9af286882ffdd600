import type { Drill } from '../stage/drill.ts';
import { throughOutages } from '../stage/traffic/through-outages.ts';

/** See README.md. */
export const brokerRestart: Drill = {
  name: 'broker-restart',
  summary: 'the server is stopped and started under load: nothing is lost, work goes on by itself',
  needs: ['server'],
  limitMs: 400_000,
  run: (stage) =>
    throughOutages(stage, {
      fault: 'broker-restart',
      times: stage.quick ? 1 : 3,
      goes: (server) => server.stop(),
      mayUndo: false,
    }),
};
