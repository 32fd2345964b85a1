import { z } from 'zod'
import { remoteError } from '../../../bridge/src/client/answers.ts'
import { type Clock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import { checkedBy, toErrorInfo } from '../../../../src/protocol/errors.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Dispatch, UnloggedEnd } from '../../../bridge/src/server/dispatch.ts'
import { answered, requestBodyOf, type Carried, type Outcome, type OwnCommand } from './carried.ts'
import { Ingress, type Asked } from './ingress.ts'
import { wasRecorded } from './wasRecorded.ts'
import { withoutEnd } from '../../../../src/protocol/text/textEnds.ts'

/** Options of `restateDispatch`. */
export interface RestateDispatchOptions {
  /** Address at which the engine takes requests: `http://localhost:8080`. */
  readonly ingress: string
  /** Store of the workers, which has the logs. It is read. */
  readonly store: Store
  /** Name of the virtual object. Default `agent`. */
  readonly name?: string
  /** Headers of every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds for which requests to an engine that does not answer are repeated. Default 30,000. */
  readonly patienceMs?: number
  /** Clock of the dispatch. Default: the system's. */
  readonly clock?: Clock
}

const optionsSchema = z.object({
  ingress: z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'give an http: address'),
  store: z.custom((value) => typeof value === 'object' && value !== null, 'give the store of the workers'),
  name: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  patienceMs: z.int().positive().optional(),
})

/** Interval at which a log is checked for a decision, in milliseconds. */
const pollMs = 50

/**
 * Has a server pass its clients' commands to an engine (`dispatch` of `serve`): agents can be prompted and steered
 * wherever they are, and continue when their worker dies. Needs the optional package `@restatedev/restate-sdk-clients`.
 *
 * @throws RuntimeError `PACKAGE_MISSING`, `INVALID_OPTION`
 *
 * @example
 * ```ts no-run
 * import { restateDispatch, restateWorker } from 'escapement/restate'
 * import { sqliteStore } from 'escapement/sqlite'
 *
 * const store = sqliteStore('agents.db')
 * const worker = await restateWorker({ definitions: [coder], store })
 * const dispatch = await restateDispatch({ ingress: 'http://localhost:8080', store })
 * await worker.runtime.serve({ definitions: [coder], dispatch })
 * ```
 */
export async function restateDispatch(options: RestateDispatchOptions): Promise<Dispatch> {
  checkedBy(optionsSchema, options, 'restateDispatch')
  const { store, name = 'agent', headers = {}, patienceMs = 30_000, clock = systemClock } = options
  const clients = await loadPeer(
    () => import('@restatedev/restate-sdk-clients'),
    'restateDispatch',
    '@restatedev/restate-sdk-clients',
  )
  const url = withoutEnd(options.ingress, '/')
  const parts = { clients, url, headers, name, clock, patienceMs, isExpected: true }
  return new EngineDispatch(new Ingress(parts), store, clock)
}

/** Commands for which the engine waits until the agent rests, and then reports the outcome. */
const drives: ReadonlySet<string> = new Set(['prompt', 'resume'])

class EngineDispatch implements Dispatch {
  readonly #ingress: Ingress
  readonly #store: Store
  readonly #clock: Clock

  constructor(ingress: Ingress, store: Store, clock: Clock) {
    this.#ingress = ingress
    this.#store = store
    this.#clock = clock
  }

  async command(
    command: Exclude<Carried['command'], OwnCommand>,
    requestId: string,
  ): Promise<{ readonly ended?: Promise<UnloggedEnd | undefined> }> {
    const { agentId } = command
    const { verb, ...body } = requestBodyOf({ requestId, command, birth: {} })
    const asked = { agentId, verb, body, requestId }
    if (drives.has(verb)) {
      await this.#ingress.send(asked)
      return { ended: this.#ended(asked) }
    }
    await this.#ingress.call(asked)
    const carried: Asked = { agentId, verb: 'carry', body: { ...body, verb }, requestId }
    if (verb === 'interrupt') return { ended: this.#ended(carried) }
    if (answered.has(verb)) await this.#carriedOut(carried, verb)
    return {}
  }

  async event({ hostId: agentId, event }: { hostId: string; event: object }, requestId: string): Promise<void> {
    await this.#ingress.call({ agentId, verb: 'event', body: { event, requestId }, requestId })
    await this.#carriedOut({ agentId, verb: 'carry', body: { event, requestId, verb: 'event' }, requestId }, 'event')
  }

  async begin(
    { id: agentId, definition, metadata }: Parameters<Dispatch['begin']>[0],
    requestId: string,
  ): Promise<number> {
    const body = { definition, requestId, isNew: true, ...(metadata === undefined ? {} : { metadata }) }
    const outcome = await this.#ingress.call<Outcome>({ agentId, verb: 'open', body, requestId })
    throwRefusal(outcome)
    return outcome.seq
  }

  close(): void {
    this.#ingress.close()
  }

  /** Returns the end of a run that is not in its log. */
  async #ended(asked: Asked): Promise<UnloggedEnd | undefined> {
    try {
      const { status, error, stopReason, from } = await this.#ingress.call<Outcome>(asked)
      if (status === 'refused') return { stopReason: 'error', ...(error === undefined ? {} : { error }) }
      if (from !== undefined) return undefined
      const reason = status === 'stopped' ? 'aborted' : stopReason
      return reason === undefined ? undefined : { stopReason: reason }
    } catch (thrown) {
      return { stopReason: 'error', error: toErrorInfo(thrown, 'INTERNAL') }
    }
  }

  /** Resolves once a decision is in the log, or an agent has stopped. */
  async #carriedOut(asked: Asked, verb: string): Promise<void> {
    const done = new AbortController()
    const { agentId, requestId } = asked
    const carried = this.#ingress.call<Outcome>(asked)
    const parts = { store: this.#store, clock: this.#clock, pollMs, agentId, requestId, signal: done.signal }
    try {
      throwRefusal(await (verb === 'stop' ? carried : Promise.race([carried, wasRecorded(parts)])))
    } finally {
      done.abort()
      carried.catch(() => {})
    }
  }
}

function throwRefusal(outcome: Outcome | undefined): void {
  if (outcome?.status === 'refused') throw remoteError(outcome.error!)
}
