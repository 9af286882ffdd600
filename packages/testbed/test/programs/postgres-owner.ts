import { serveChild, startPostgres } from '../../src/index.ts';

const server = await startPostgres();
serveChild({
  adminUrl: () => server.adminUrl,
  pause: () => server.pause(),
});
