import { serveChild, startChild } from '../../src/index.ts';

const child = await startChild(new URL('methods.ts', import.meta.url));
serveChild({
  pidOfChild: () => child.pid,
  pauseChild: () => child.pause(),
});
