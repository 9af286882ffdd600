import { makeBrokerFolder, removeBrokerFolder } from './broker-folder.ts';
import { freePlace, newSecrets } from './broker-place.ts';
import { BrokerProcess } from './broker-process.ts';
import { findRabbitmq } from './installation.ts';
import { operateBroker } from './operate-broker.ts';
import type { RabbitmqServer, RabbitmqVersion } from './rabbitmq-server.ts';

export interface RabbitmqOptions {
  /** `3.10` when left out: the distribution's own. */
  readonly version?: RabbitmqVersion;
}

/**
 * Starts a private broker: own ports, own node name, own port mapper, own data, all gone with this process. Packages are
 * installed where they are missing (Debian, as root); versions 4.0 and 4.3 are fetched from later releases of Debian once.
 */
export async function startRabbitmq(options: RabbitmqOptions = {}): Promise<RabbitmqServer> {
  const installation = await findRabbitmq(options.version ?? '3.10');
  const place = await freePlace(newSecrets());
  const folder = await makeBrokerFolder(installation, place);
  const broker = new BrokerProcess(installation, place, folder);
  const remove = async (): Promise<void> => {
    await broker.end();
    await removeBrokerFolder(folder);
  };
  try {
    return operateBroker(broker, place, await broker.start(), remove);
  } catch (error) {
    await remove();
    throw error;
  }
}
