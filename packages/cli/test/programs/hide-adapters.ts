import { registerHooks } from 'node:module';

/** Optional adapters, as if they were not installed: what the system says of a package that is not there. */
const HIDDEN = /^@surety\/(?:postgres|redis|rabbitmq|sqs)(?=\/|$)/;

registerHooks({
  resolve(specifier, context, next) {
    const [name] = HIDDEN.exec(specifier) ?? [];
    if (name === undefined) return next(specifier, context);
    const what = `Cannot find package '${name}' imported from ${context.parentURL}`;
    throw Object.assign(new Error(what), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
