import { readFile } from 'node:fs/promises';

export interface ServiceUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Whom to run a server as that refuses to run as root: `undefined` (ourselves) unless we are root, otherwise the first
 * of the given users that exists on this machine.
 */
export async function serviceUser(...names: readonly string[]): Promise<ServiceUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of names) {
    const account = accounts.find((fields) => fields[0] === name);
    if (account !== undefined) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new Error(`running as root, and none of the users ${names.join(', ')} exists to run the server as`);
}
