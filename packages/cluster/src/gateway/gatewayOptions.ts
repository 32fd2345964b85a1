import { isStore } from '../../../../src/protocol/ports/checkStore.ts'
import { z } from 'zod'
import { checkedBy, RuntimeError } from '../../../../src/protocol/errors.ts'
import { systemClock, type Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Endpoint } from '../../../bridge/src/server/endpoint.ts'
import { minSecretLength } from '../../../bridge/src/server/forwarded.ts'
import { checkServeOptions, type ServeOptions } from '../../../bridge/src/server/serveOptions.ts'

/** Returns the process that has an agent; `undefined` if none has. Without `url`: a process that cannot be reached. */
export type WhoHas = (
  agentId: string,
) => { readonly url?: string } | undefined | Promise<{ readonly url?: string } | undefined>

/** Returns the worker that is to wake an agent at rest, or begin a new one; `undefined`: none now, ask again. */
export type Place = (
  agentId: string,
  about: { readonly definition: string | undefined },
) => string | undefined | Promise<string | undefined>

export interface GatewayOptions extends Pick<
  ServeOptions,
  | 'port'
  | 'host'
  | 'server'
  | 'tokens'
  | 'authenticate'
  | 'base'
  | 'path'
  | 'role'
  | 'origins'
  | 'inspector'
  | 'shareKey'
  | 'limits'
> {
  /**
   * Directory of the processes that have agents: the store that the workers share, which knows the workers that announced their addresses
   * (`serve` does so), or a function together with `workers`.
   */
  readonly directory: Store | WhoHas
  /** Secret that the workers have as `gatewaySecret`, of 32 characters or more. */
  readonly secret: string
  /** Paths of the other protocols that the workers speak, such as `/ag-ui`, `/acp`, `/api/chat` and `/mcp`. Default: none. */
  readonly endpoints?: readonly string[]
  /** Returns the current addresses of the workers' bridges. Default: the addresses announced in the store. */
  readonly workers?: () => readonly string[] | Promise<readonly string[]>
  /** Chooses a worker for an agent at rest. Default: any reachable worker, always the same one for an agent. */
  readonly place?: Place
  /** Store from which lists of sessions are read. Default: the directory, if it is a store. */
  readonly store?: Store
  /** Clock of the gateway. Default: the system's. */
  readonly clock?: Clock
  /** Receives a line for each problem. Default: none. */
  readonly logger?: Logger
}

const isFunction = (value: unknown): boolean => typeof value === 'function'
const store = z.custom<Store>(isStore, 'give a store')
const ownSchema = z.object({
  directory: z.custom<Store | WhoHas>((value) => isStore(value) || isFunction(value), 'give a store, or a function'),
  secret: z.string().min(minSecretLength, `a secret needs at least ${minSecretLength} characters`),
  endpoints: z.array(z.string().regex(/^(?:\/[\w.~-]+)+$/, 'give paths such as "/ag-ui"')).optional(),
  workers: z.custom(isFunction, 'give a function').optional(),
  place: z.custom(isFunction, 'give a function').optional(),
  store: store.optional(),
  clock: z.custom<Clock>((value) => isFunction((value as Clock | null)?.after), 'give { now, after }').optional(),
  logger: z.custom<Logger>((value) => isFunction((value as Logger | null)?.warn), 'give a logger').optional(),
})

/** Checked options of a gateway. */
export interface CheckedGateway {
  readonly whoHas: WhoHas
  readonly workers: () => Promise<readonly string[]>
  readonly place: Place | undefined
  readonly secret: string
  readonly store: Store | undefined
  readonly clock: Clock
  readonly logger: Logger | undefined
  readonly serving: ServeOptions
}

/** @throws RuntimeError `INVALID_OPTION`, also for a store that does not know who has an agent */
export function checkGatewayOptions(options: GatewayOptions): CheckedGateway {
  checkedBy(ownSchema, options, 'serveGateway')
  const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', `serveGateway: ${what}.`)
  const {
    directory,
    secret,
    workers,
    place,
    store: lists,
    clock = systemClock,
    logger,
    endpoints = [],
    ...rest
  } = options
  const serving: ServeOptions = { ...rest, endpoints: endpoints.map(carried) }
  checkServeOptions(serving)
  if ('advertise' in serving || 'gatewaySecret' in serving || 'definitions' in serving)
    throw wrong('advertise, gatewaySecret and definitions are for workers')
  if (!isStore(directory)) {
    if (workers === undefined && place === undefined)
      throw wrong('a directory that is a function needs workers or place')
    return {
      whoHas: directory,
      workers: async () => (await workers?.()) ?? [],
      place,
      secret,
      store: lists,
      clock,
      logger,
      serving,
    }
  }
  if (directory.holder === undefined)
    throw wrong('this store does not know who has an agent: give a function as directory')
  const known = directory.workers === undefined ? workers : (workers ?? (() => workersOf(directory)))
  if (known === undefined && place === undefined)
    throw wrong('this store does not know which workers there are: give workers, or place')
  return {
    whoHas: (agentId) => directory.holder!(agentId),
    workers: async () => (await known?.()) ?? [],
    place,
    secret,
    store: lists ?? directory,
    clock,
    logger,
    serving,
  }
}

/** Returns an endpoint whose requests are all forwarded to workers. */
const carried = (path: string): Endpoint => ({
  path,
  below: true,
  headers: ['mcp-session-id', 'mcp-protocol-version', 'last-event-id'],
  answer: () => {},
  connect: () => {},
})

const workersOf = async (directory: Store): Promise<readonly string[]> =>
  ((await directory.workers?.()) ?? []).map(({ url }) => url)
