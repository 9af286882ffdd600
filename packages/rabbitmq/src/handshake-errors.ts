import type { ErrorCode } from '@surety/core/errors';

/** Why no connection came about, where neither a reply code nor the system says it. */
export interface HandshakeError {
  readonly code: ErrorCode;
  readonly what: string;
  readonly remedy: string;
}

/** amqplib keeps the broker's words to itself here. */
const VHOST_REFUSED = /^Expected ConnectionOpenOk; got <ConnectionClose/;
/** The first bytes of another protocol, taken for the size of a frame. */
const NO_AMQP = /^Frame size \d+ exceeds/;
const TLS = /^(?:ERR_(?:SSL|TLS)_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

export function handshakeErrorOf(native: unknown): HandshakeError | null {
  if (!(native instanceof Error)) return null;
  const { code } = native as { readonly code?: unknown };
  if (VHOST_REFUSED.test(native.message)) {
    return {
      code: 'PERMISSION_DENIED',
      what: 'RabbitMQ refused the virtual host: it is not there, or this user has no rights in it.',
      remedy: 'Correct the path of the URL (none stands for the host "/"), or: rabbitmqctl set_permissions.',
    };
  }
  if (NO_AMQP.test(native.message)) {
    return {
      code: 'BACKEND_UNAVAILABLE',
      what: 'What answers there does not speak the protocol of RabbitMQ.',
      remedy:
        'Check host and port (5672, with TLS 5671), and that amqps:// stands where the broker wants TLS.',
    };
  }
  if (typeof code === 'string' && TLS.test(code)) {
    return {
      code: 'BACKEND_UNAVAILABLE',
      what: `TLS to RabbitMQ failed: ${code}.`,
      remedy:
        'Check that the port is the one for TLS; a certificate authority of your own goes into NODE_EXTRA_CA_CERTS.',
    };
  }
  return null;
}
