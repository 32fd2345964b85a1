import type * as Clients from '@restatedev/restate-sdk-clients'
import { nanoid } from 'nanoid'
import { z } from 'zod'
import { isAgentDefinition, noDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { remoteError } from '../../../bridge/src/client/answers.ts'
import { Client } from '../../../bridge/src/client/client.ts'
import { checkOptions } from '../../../bridge/src/client/connectOptions.ts'
import type { RemoteHost } from '../../../bridge/src/client/remoteHost.ts'
import type { RemoteAgentOf } from '../../../bridge/src/client/remoteAgentOf.ts'
import { checkCommand } from '../../../../src/protocol/bridge/checkCommand.ts'
import { type Clock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import type { AgentCommand } from '../../../../src/protocol/bridge/commands.ts'
import { checkedBy, RuntimeError } from '../../../../src/protocol/errors.ts'
import { checkAgentId } from '../../../../src/protocol/ids.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { BirthOptions } from '../../../../src/runtime/children/spawnOptions.ts'
import { requestBodyOf, type Birth, type Outcome } from './carried.ts'
import { EngineSocket, type SocketParts } from './engineSocket.ts'
import { createdHost, untilThere } from './hostFrames.ts'
import { Ingress } from './ingress.ts'
import { lastSeqIn } from './logFollower.ts'
import { withoutEnd } from '../../../../src/protocol/text/textEnds.ts'

/** Options of `restateClient`. */
export interface RestateClientOptions {
  /** Address at which the engine takes requests: `http://localhost:8080`. */
  readonly ingress: string
  /** Store of the workers, which has the logs. It is read, and not closed with the client. */
  readonly store: Store
  /** Name of the virtual object. Default `agent`. */
  readonly name?: string
  /** Headers of every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Definitions that are named with `spawn` and `open`; needed for their data: descriptions, policies, output. */
  readonly definitions?: readonly AgentDefinition[]
  /** Interval between reads of a log that has listeners, in milliseconds. Default 100. */
  readonly pollMs?: number
  /** Milliseconds for which requests to an engine that does not answer are repeated. Default 30,000. */
  readonly patienceMs?: number
  /** Clock of the client. Default: the system's. */
  readonly clock?: Clock
}

/** Options for sending a command under an id of your own. */
export interface RestateRequest {
  /** Permanent id of the request. A repeated request, from any process, is answered but not carried out again. Default: a new id. */
  readonly requestId?: string
  /** Milliseconds for which the engine holds the command before passing it to the agent, for messages of tomorrow. Default: none. */
  readonly delayMs?: number
  /** Name of the definition, if the agent may be new and its worker has several. */
  readonly definition?: string
  /** Metadata of the agent if it is new; an existing agent must have it. */
  readonly metadata?: Metadata
}

const whole = z.int().positive().optional()

const optionsSchema = z.object({
  ingress: z.string(),
  store: z.custom((value) => typeof value === 'object' && value !== null, 'give the store of the workers'),
  name: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  definitions: z.array(z.custom(isAgentDefinition, { error: noDefinition() })).optional(),
  pollMs: whole,
  patienceMs: whole,
})

/**
 * Makes a client for the agents of an engine, of the same kind as `connect` of `escapement/client`: code for such a client (hooks, chats,
 * tools of your own) works with it. Commands go to the engine and survive everything from then on; events and conversations are read from the
 * store, record by record, without the deltas of a reply. Needs the optional package `@restatedev/restate-sdk-clients`.
 *
 * @throws RuntimeError `PACKAGE_MISSING`, `INVALID_OPTION`
 *
 * @example
 * ```ts no-run
 * import { restateClient } from 'escapement/restate'
 * import { sqliteStore } from 'escapement/sqlite'
 *
 * const client = await restateClient({ ingress: 'http://localhost:8080', store: sqliteStore('agents.db') })
 * const agent = await client.open('user-7', 'coder')
 * const { text } = await agent.prompt('Fix the failing test').result
 * client.close()
 * ```
 */
export async function restateClient(options: RestateClientOptions): Promise<RestateClient> {
  checkedBy(optionsSchema, options, 'restateClient')
  checkUrl(options.ingress)
  const clients = await loadPeer(
    () => import('@restatedev/restate-sdk-clients'),
    'restateClient',
    '@restatedev/restate-sdk-clients',
  )
  return clientOf(options, clients)
}

/** @throws RuntimeError `INVALID_OPTION` */
function checkUrl(ingress: string): void {
  const url = URL.parse(ingress)
  if ((url?.protocol === 'http:' || url?.protocol === 'https:') && url.hostname !== '') return
  throw new RuntimeError(
    'INVALID_OPTION',
    `restateClient: ingress: give a URL such as http://localhost:8080, not ${ingress}.`,
  )
}

function clientOf(options: RestateClientOptions, clients: typeof Clients): RestateClient {
  const { store, name = 'agent', headers = {}, pollMs = 100, patienceMs = 30_000, clock = systemClock } = options
  const url = withoutEnd(options.ingress, '/')
  const ingress = new Ingress({ clients, url, headers, name, clock, patienceMs })
  const births = new Map<string, Birth>()
  const parts: SocketParts = {
    ingress,
    store,
    clock,
    pollMs,
    definitions: new Map(options.definitions?.map((definition) => [definition.name, definition])),
    birthOf: (agentId) => births.get(agentId) ?? {},
    known: new Map(),
  }
  return new RestateClient(parts, births)
}

/** A client of an engine's agents. Made by `restateClient`. */
export class RestateClient extends Client {
  readonly #parts: SocketParts
  readonly #births: Map<string, Birth>

  /** Made by `restateClient`. */
  constructor(parts: SocketParts, births: Map<string, Birth>) {
    const webSocket = class extends EngineSocket {
      constructor() {
        super(parts)
      }
    }
    const knownSeq = (agentId: string): number | undefined => parts.known.get(agentId)
    super({ ...checkOptions('ws://engine', { webSocket, clock: parts.clock }), knownSeq })
    this.#parts = parts
    this.#births = births
  }

  /**
   * Opens the agent with this id; a new one begins with its first command. `definition` names a
   * definition of the worker; an existing agent keeps its own.
   *
   * @throws RuntimeError `INVALID_ID`; as the store does
   */
  async open<D extends AgentDefinition>(
    id: string,
    definition?: string | D,
    birth: BirthOptions = {},
  ): Promise<RemoteAgentOf<D>> {
    checkAgentId(id)
    this.#births.set(id, birthOf(definition, birth))
    this.#parts.known.set(id, await lastSeqIn(this.#parts.store, id))
    return this.#typed(id, definition)
  }

  /**
   * Begins an agent with this id, which must not exist yet; as `spawn`, with the definition's type and a history.
   *
   * @throws RuntimeError `AGENT_EXISTS`; else as `request`
   */
  async begin<D extends AgentDefinition>(
    id: string,
    definition: D,
    birth: BirthOptions = {},
  ): Promise<RemoteAgentOf<D>> {
    checkAgentId(id)
    const requestId = nanoid()
    const body = { ...birthOf(definition, birth), requestId, isNew: true }
    const { status, error, seq } = await this.#parts.ingress.call<Outcome>({
      agentId: id,
      verb: 'open',
      body,
      requestId,
    })
    if (status === 'refused') throw remoteError(error!)
    this.#parts.known.set(id, seq)
    return this.#typed(id, definition)
  }

  /**
   * Opens the machine with this id; a new one begins with `input`. `machine` is a machine of the worker, or its name. Resolves once the machine is in
   * the store.
   *
   * @throws RuntimeError `INVALID_DEFINITION`: it is of another machine, or no worker has it; `MACHINE_REFUSED`; as the store does; else as `request`
   */
  async openHost(
    id: string,
    machine: string | { readonly name: string },
    { input }: { readonly input?: unknown } = {},
  ): Promise<RemoteHost> {
    checkAgentId(id)
    const name = typeof machine === 'string' ? machine : machine.name
    const requestId = nanoid()
    const { ingress, store, clock, pollMs } = this.#parts
    const body = { definition: name, requestId, ...(input === undefined ? {} : { input }) }
    const settled = new AbortController()
    const opened = ingress.call<Outcome>({ agentId: id, verb: 'open', body, requestId })
    try {
      // It may be long before it is at rest.
      const outcome = await Promise.race([opened, untilThere({ store, clock, pollMs }, id, settled.signal)])
      if (outcome?.status === 'refused') throw remoteError(outcome.error!)
    } finally {
      settled.abort()
      opened.catch(() => {})
    }
    const created = await createdHost(store, id)
    if (created.machine === name) return this.host(id)
    throw new RuntimeError('INVALID_DEFINITION', `"${id}" is of machine "${created.machine}", not "${name}".`)
  }

  #typed<D extends AgentDefinition>(id: string, definition: string | D | undefined): RemoteAgentOf<D> {
    const output = typeof definition === 'object' ? definition.output : null
    return (output === null ? this.agent(id) : this.agent(id, { output })) as never
  }

  /**
   * Has the engine bring a command to an agent, under an id of your own and perhaps later, and waits until the agent rests again. Returns the
   * outcome, without text of the conversation. For a command that joins a current run, it waits until that run rests.
   *
   * @throws RuntimeError `INVALID_ID`, `INVALID_OPTION`, `INVALID_CONTENT`, `ENGINE_UNREACHABLE`, `ENGINE_REFUSED`, `ENGINE_LIMIT`, `BRIDGE_CLOSED`
   *
   * @example
   * ```ts no-run
   * import type { RestateClient } from 'escapement/restate'
   *
   * async function onWebhook(client: RestateClient, order: { readonly id: string }) {
   *   const command = { type: 'agent.prompt', agentId: `order-${order.id}`, content: 'Look at the new order.' } as const
   *   const { status } = await client.request(command, { requestId: order.id })
   *   if (status === 'waiting') console.log('Somebody must decide')
   * }
   * ```
   */
  async request(command: AgentCommand, options: RestateRequest = {}): Promise<Outcome> {
    const { agentId } = command
    checkAgentId(agentId)
    const { requestId = nanoid(), delayMs, definition, metadata } = options
    const birth = {
      ...this.#births.get(agentId),
      ...(definition === undefined ? {} : { definition }),
      ...(metadata === undefined ? {} : { metadata }),
    }
    const carried = { requestId, command: checkCommand(command), birth }
    const { verb, ...body } = requestBodyOf(carried)
    const asked = { agentId, requestId, ...(delayMs === undefined ? {} : { delayMs }) }
    const { ingress } = this.#parts
    if (verb === 'prompt' || verb === 'resume') return await ingress.call<Outcome>({ ...asked, verb, body })
    if (delayMs === undefined) await ingress.call({ ...asked, verb, body })
    return await ingress.call<Outcome>({ ...asked, verb: 'carry', body: { ...body, verb } })
  }

  override close(): void {
    super.close()
    this.#parts.ingress.close()
  }
}

const birthOf = (definition: string | AgentDefinition | undefined, { metadata, history }: BirthOptions): Birth => {
  const name = typeof definition === 'string' ? definition : definition?.name
  return {
    ...(name === undefined ? {} : { definition: name }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(history === undefined ? {} : { history }),
  }
}
