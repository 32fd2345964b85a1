import { z } from 'zod'
import { optionsCheck } from '../protocol/checks/optionsCheck.ts'
import { RuntimeError } from '../protocol/errors.ts'
import { metadataSchema } from '../protocol/metadata.ts'
import { has } from '../protocol/ports/checkStore.ts'

/** Schema of a history, whose messages are checked later, one by one. */
const birth = { metadata: metadataSchema, history: () => z.unknown() }

const resumption = {
  continue: () => z.boolean(),
  takeOver: () => z.boolean(),
  wait: () => z.number().nonnegative(),
  signal: () => z.instanceof(AbortSignal, { error: 'give an AbortSignal' }),
}

const given = {
  under: () => z.custom(has('send', 'getSnapshot'), 'give an XState actor'),
  deps: () => z.unknown(),
}

const drainMs = () => z.number().nonnegative()

const checks = {
  close: optionsCheck({}, { detach: () => z.boolean(), drainMs }),
  detach: optionsCheck({}, { drainMs }),
  spawn: optionsCheck({}, { id: () => z.string(), incognito: () => z.boolean(), ...given, ...birth }),
  resume: optionsCheck({}, { ...resumption, ...given }),
  open: optionsCheck({}, { ...resumption, ...given, ...birth }),
}

/**
 * Checks the options of one of the runtime's functions.
 *
 * @throws RuntimeError `INVALID_OPTION`, naming the option.
 */
export function checkOptions(verb: keyof typeof checks, options: unknown): void {
  const wrong = checks[verb](options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `${verb}: ${wrong}.`)
}
