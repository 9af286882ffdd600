import type { SuretyError } from '@surety/core/errors';
import { type Call, failure } from '../call.ts';
import type { ManagementPlace } from './address.ts';

/** The HTTP API of a broker, for one call. */
export interface Management {
  /** Asks, and answers what JSON it got. Throws errors of ours, in time. */
  get(path: string): Promise<unknown>;
}

export function managementAt(place: ManagementPlace, call: Call): Management {
  const authorization = `Basic ${Buffer.from(`${place.user}:${place.password}`).toString('base64')}`;
  return {
    async get(path) {
      const response = await ask(`${place.url}/api/${path}`, authorization, call);
      if (!response.ok) throw refusal(response.status, call);
      return response.json().catch((cause: unknown) => {
        throw noManagement('What answers there is no management API.', call, cause);
      });
    },
  };
}

async function ask(url: string, authorization: string, call: Call): Promise<Response> {
  try {
    return await fetch(url, {
      headers: { authorization },
      redirect: 'error',
      signal: AbortSignal.timeout(Math.max(1, Math.ceil(call.deadline - performance.now()))),
    });
  } catch (cause) {
    throw noManagement('The management API cannot be reached.', call, cause);
  }
}

function noManagement(what: string, call: Call, cause: unknown): SuretyError {
  return failure('BACKEND_UNAVAILABLE', what, call.operation, {
    cause,
    remedy:
      'Check the parameter "management" of the URL (port 15672 by default), and that the plugin rabbitmq_management is enabled.',
  });
}

function refusal(status: number, call: Call): SuretyError {
  if (status === 401 || status === 403) {
    const what = `The management API refused this user (${status}).`;
    const remedy = 'Let it in: rabbitmqctl set_user_tags USER monitoring.';
    return failure('PERMISSION_DENIED', what, call.operation, { remedy });
  }
  return noManagement(`The management API answered with ${status}.`, call, null);
}

/** A list of objects, whatever came; fields are read one by one. */
export function itemsOf(json: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(json) ? json.filter((item) => typeof item === 'object' && item !== null) : [];
}
