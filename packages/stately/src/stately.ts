import type { InspectionEvent, ActorRefLike, AnyActorRef } from 'xstate'
import { closeCodes } from '../../wire/src/bridgeProtocol.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import type { Endpoint } from '../../bridge/src/server/endpoint.ts'
import type { TextSocket } from '../../bridge/src/server/textSocket.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'

/**
 * Serves the Stately inspector's messages about every agent within reach, at `/stately`: tools made for `@statelyai/inspect`
 * attach to it. Messages of clients are ignored. A slow client misses messages; once it has caught up, it gets every actor again.
 */
export const stately = (): Endpoint => ({
  path: '/stately',
  connect(socket, access) {
    if (!access.may('see.all')) return socket.close(closeCodes.unauthorised, 'this needs the right "see.all"')
    const session = new StatelySession(socket, access)
    socket.onClose(() => session.close())
  },
})

class StatelySession {
  readonly #socket: TextSocket
  readonly #access: AgentAccess
  readonly #ends = new Map<Agent, () => void>()
  readonly #forget: () => void
  #isBehind = false

  constructor(socket: TextSocket, access: AgentAccess) {
    this.#socket = socket
    this.#access = access
    this.#forget = access.onAgent((agent) => this.#inspect(agent))
    for (const agent of access.topmost()) this.#inspect(agent)
  }

  close(): void {
    this.#forget()
    for (const end of this.#ends.values()) end()
    this.#ends.clear()
  }

  #inspect(agent: Agent): void {
    // An agent below another one within reach is inspected with it.
    if (agent.parent !== undefined && [...this.#ends.keys()].some(({ id }) => agent.path.includes(id))) return
    let top: ActorRefLike | undefined
    const end = agent.inspect((event) => {
      top ??= event.actorRef
      if (!this.#isHidden(event.actorRef)) this.#send(event, agent.id, top)
      const isOver = event.type === '@xstate.snapshot' && event.actorRef === top && event.snapshot.status !== 'active'
      if (isOver && this.#ends.delete(agent)) end()
    })
    this.#ends.set(agent, end)
  }

  /** True if an actor is an incognito agent's, or below one. */
  #isHidden(actor: ActorRefLike): boolean {
    for (let at: AnyActorRef | undefined = actor as AnyActorRef; at !== undefined; at = parentOf(at)) {
      // One that is being created has none.
      const snapshot = at.getSnapshot() as { readonly context?: { readonly agentId?: unknown } } | undefined
      const agentId = snapshot?.context?.agentId
      if (typeof agentId === 'string' && this.#access.isHidden(agentId, [])) return true
    }
    return false
  }

  #send(event: InspectionEvent, agentId: string, top: ActorRefLike): void {
    const { highWaterBytes } = this.#access.limits
    if (this.#isBehind) return
    const message = statelyMessage(event, { agentId, top, time: this.#access.clock.now() })
    if (message === undefined) return
    this.#socket.send(JSON.stringify(this.#access.redact(message)), () => this.#drained())
    this.#isBehind = this.#socket.bufferedAmount > highWaterBytes
  }

  #drained(): void {
    if (!this.#isBehind || this.#socket.bufferedAmount > this.#access.limits.highWaterBytes / 2) return
    this.#isBehind = false
    const agents = [...this.#ends.keys()]
    for (const end of this.#ends.values()) end()
    this.#ends.clear()
    for (const agent of agents) this.#inspect(agent)
  }
}

/** Version of Stately's message format. */
const format = '0.7.2'

/** Replaces functions by their names; logic is described by its config. */
const named = (_key: string, value: unknown): unknown => (typeof value === 'function' ? { type: value.name } : value)

const definitions = new WeakMap<object, string>()

function definitionOf(actor: AnyActorRef): string {
  const { config } = (actor as unknown as { readonly logic: { readonly config?: unknown } }).logic
  if (typeof config !== 'object' || config === null) return JSON.stringify({ id: actor.id })
  const known = definitions.get(config) ?? JSON.stringify(config, named)
  definitions.set(config, known)
  return known
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value, named) ?? 'null') as unknown

/** Agent whose inspection produced an event. */
interface Inspected {
  readonly agentId: string
  /** The agent's own actor. Actors above it are not inspected. */
  readonly top: ActorRefLike
  readonly time: number
}

/**
 * Session ids are unique in a system, and agents are in many: those below an actor of the application in one whose copy of XState counts
 * by itself.
 */
function sessionOf(actor: ActorRefLike | undefined, { agentId, top }: Inspected): string | undefined {
  for (let at = actor as AnyActorRef | undefined; at !== undefined; at = parentOf(at))
    if (at === top) return `${agentId}/${actor!.sessionId}`
  return undefined
}

/**
 * Converts an XState inspection event to a Stately inspector message. `undefined` for events without one. Shapes: those
 * of `@statelyai/inspect`.
 */
export function statelyMessage(event: InspectionEvent, inspected: Inspected): object | undefined {
  const actor = event.actorRef as AnyActorRef
  const about = {
    sessionId: sessionOf(actor, inspected),
    rootId: sessionOf(inspected.top, inspected),
    createdAt: String(inspected.time),
    id: null,
    _version: format,
  }
  switch (event.type) {
    case '@xstate.actor':
      return {
        type: event.type,
        name: actor.id,
        definition: definitionOf(actor),
        parentId: sessionOf(parentOf(actor), inspected),
        snapshot: plain(actor.getSnapshot()),
        ...about,
      }
    case '@xstate.event':
      return { type: event.type, event: plain(event.event), sourceId: sessionOf(event.sourceRef, inspected), ...about }
    case '@xstate.snapshot':
      return { type: event.type, event: plain(event.event), snapshot: plain(event.snapshot), ...about }
    default:
      return undefined
  }
}

// oxlint-disable-next-line no-underscore-dangle -- XState names it so
const parentOf = (actor: AnyActorRef): AnyActorRef | undefined => actor._parent
