import { serveChild, startRedis } from '../../src/index.ts';

const server = await startRedis();
serveChild({
  url: () => server.url,
  pause: () => server.pause(),
});
