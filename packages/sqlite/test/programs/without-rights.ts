import { isSuretyError } from '@surety/core/errors';
import { sqlite } from '@surety/sqlite';
import { serveChild } from '@surety/testbed';

/** The user without rights of its own, on Linux as a rule "nobody". */
const NOBODY = 65_534;

// Root may write everywhere. Other users have no rights to shed.
if (process.getuid?.() === 0) {
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

serveChild({
  /** The code with which the open fails. */
  async open({ file }: { file: string }) {
    const backend = sqlite(file);
    try {
      await backend.open({ timeoutMs: 10_000, notify: () => undefined });
      return 'opened';
    } catch (error) {
      return isSuretyError(error) ? error.code : String(error);
    } finally {
      await backend.close({ graceMs: 100 });
    }
  },
});
