import { z } from 'zod'
import { modelLimitsSchema, type ModelLimits } from './limits/modelLimit.ts'
import type { RedactOptions } from '../../redaction/src/redactor.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import { metadataSchema } from '../../../src/protocol/metadata.ts'
import { optionsCheck } from '../../../src/protocol/checks/optionsCheck.ts'
import { has, isStore } from '../../../src/protocol/ports/checkStore.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import type { Tracer } from '../../../src/protocol/ports/tracer.ts'

export interface RuntimeOptions {
  /** Store of the logs; closed with the runtime. Default: in memory. */
  readonly store?: Store
  /** Default: the system's. */
  readonly clock?: Clock
  /** Random numbers from 0 to 1 for the jitter of retries. Default: `Math.random`. */
  readonly random?: () => number
  /** Creates ids of agents and requests. Default: nanoid. */
  readonly newId?: () => string
  /** Tracer that records the work of agents as spans, such as `otelTracer` from `escapement/otel`. */
  readonly tracer?: Tracer
  /** Gets a line for each thing that happens, but never its content: a pino logger, for example. Default: none. */
  readonly logger?: Logger
  /** Secrets to keep out of logs, events, requests and captures; the model does not see them either. Default: none. */
  readonly redact?: RedactOptions
  /**
   * An agent without a parent that has been idle for this many milliseconds, with no listener and no child, is unloaded: its log is
   * released and its memory freed, and its next command loads it again. Until it is unloaded a timer keeps the process alive.
   * Default: never.
   */
  readonly idleUnloadMs?: number
  /**
   * Limits on the model calls of all agents together: `{ concurrency: 8 }`, or a list of limits with their model ids. The trees of agents take turns.
   * A provider's `Retry-After` pauses all calls of that model; `{}` does only that. Default: none.
   */
  readonly models?: ModelLimits
  /**
   * Returns the part of `models` that this process may use, above 0 and at most 1; asked at each call. Of processes that share a limit, each has 1 divided
   * by their number. A limit is at least 1 in each. Default: all of it.
   */
  readonly modelShare?: () => number
  /** Key of metadata by whose values agents take turns: tenants, each with any number of agents. Default: each tree of agents by itself. */
  readonly modelTurns?: string
  /**
   * Interpreter of the charts: `planned` (the default) uses precomputed transitions, at half the cost of XState's own interpreter, `xstate`,
   * with the same effects in the same order. An inspected agent always runs on XState's.
   */
  readonly interpreter?: 'planned' | 'xstate'
}

const func = () => z.custom((value) => typeof value === 'function', 'give a function')

const checks = {
  createRuntime: optionsCheck(
    {},
    {
      store: () => z.custom(isStore, 'give a store, such as fileStore(dir)'),
      clock: () => z.custom(has('now', 'after'), 'give { now, after }'),
      random: func,
      newId: func,
      tracer: () => z.custom(has('event', 'within'), 'give a tracer, such as otelTracer()'),
      logger: () => z.custom(has('debug', 'info', 'warn', 'error'), 'give a logger, such as pino()'),
      redact: () => z.looseObject({}),
      idleUnloadMs: () => z.number().positive(),
      models: modelLimitsSchema,
      modelShare: func,
      modelTurns: () => z.string().min(1),
      interpreter: () => z.enum(['planned', 'xstate']),
    },
  ),
  waiting: optionsCheck({}, { metadata: metadataSchema }),
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
