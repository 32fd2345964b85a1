import type { InspectionEvent } from 'xstate'
import type { Agent } from '../../runtime/agents/agent.ts'
import type { Endpoint, TextSocket } from '../bridge/endpoint.ts'
import type { AgentAccess } from '../bridge/agentAccess.ts'
import { statelyMessage } from './statelyMessage.ts'

/**
 * The Stately inspector's messages of every agent within reach, at `/stately`: tools made for `@statelyai/inspect` attach to it. What
 * a client sends is ignored. A slow client misses messages; once it has caught up, it gets every actor again.
 */
export const stately = (): Endpoint => ({
  path: '/stately',
  connect(socket, access) {
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
    let top: unknown
    const end = agent.inspect((event) => {
      top ??= event.actorRef
      this.#send(event)
      const isOver = event.type === '@xstate.snapshot' && event.actorRef === top && event.snapshot.status !== 'active'
      if (isOver && this.#ends.delete(agent)) end()
    })
    this.#ends.set(agent, end)
  }

  #send(event: InspectionEvent): void {
    const { highWaterBytes } = this.#access.limits
    if (this.#isBehind) return
    const message = statelyMessage(event, this.#access.clock.now())
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
