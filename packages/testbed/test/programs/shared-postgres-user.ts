import { serveChild, sharedPostgres } from '../../src/index.ts';

serveChild({
  createDatabase: async () => (await sharedPostgres()).createDatabase(),
});
