/** Node 22 warns that node:sqlite is experimental, once per process. Whoever types a command cannot do anything about it. */
export function quietSqliteWarning(): void {
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && warning.message.includes('SQLite')) return;
    for (const print of printers) print.call(process, warning);
  });
}
