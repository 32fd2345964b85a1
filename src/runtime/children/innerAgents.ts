import type { CallOutput } from '../../machines/effectTypes.ts'
import { innerPlace } from '../../machines/innerAgents.ts'
import type { InnerAgentCall } from '../../protocol/parts/inner/innerDecisions.ts'
import type { TreeAgent } from './treeAgent.ts'

interface Waiting {
  /** Key of the running call. */
  readonly outer: string
  readonly call: InnerAgentCall
  resolve(output: CallOutput): void
}

/** Sub-agents that an agent's running calls call: those at work, and calls that wait for a place. */
export class InnerAgents {
  readonly #parent: TreeAgent
  #waiting: readonly Waiting[] = []
  /** Calls at work, by the id of the sub-agent. */
  readonly #working = new Map<string, Waiting>()
  /** Last outputs of the sub-agents, by the key of the call. The output of the last start counts. */
  readonly #outputs = new Map<string, CallOutput>()
  #isLooking = false

  constructor(parent: TreeAgent) {
    this.#parent = parent
  }

  /** Resolves with the answer once the log has the end of the sub-agent. Rejects with the signal's reason on an abort, which aborts it. */
  call(outer: string, call: InnerAgentCall, signal: AbortSignal): Promise<CallOutput> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        outer,
        call,
        resolve: (output) => {
          signal.removeEventListener('abort', abort)
          resolve(output)
        },
      }
      const abort = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        // One that ends takes all its sub-agents along.
        if (!this.#parent.machine.isStopped) this.#parent.machine.tell({ type: 'leave.agent', outer, key: call.key })
        reject(signal.reason as Error)
      }
      if (signal.aborted) return reject(signal.reason as Error)
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting = [...this.#waiting, waiting]
      this.look()
    })
  }

  /** Notes the output of a sub-agent's start. */
  heard(key: string, output: CallOutput): void {
    this.#outputs.set(key, output)
  }

  /** Passes on the output of a sub-agent whose end is in the log. */
  left(childId: string): void {
    const waiting = this.#working.get(childId)
    this.#working.delete(childId)
    if (waiting === undefined) return
    const output = this.#outputs.get(waiting.call.key)
    this.#outputs.delete(waiting.call.key)
    waiting.resolve(output ?? this.#refusal(waiting, 'It ended without an answer.'))
    this.look()
  }

  /** Checks for free places, soon. Calls that come at once are checked together, because they share the rest of the run's limits. */
  look(): void {
    if (this.#isLooking || this.#waiting.length === 0) return
    this.#isLooking = true
    setImmediate(() => {
      this.#isLooking = false
      this.#begin()
    })
  }

  #begin(): void {
    const { machine, shared } = this.#parent
    for (const waiting of this.#waiting) {
      const behind = this.#waiting.length - 1
      const { outer, call } = waiting
      const place = innerPlace(machine.context, call, behind)
      if (place === 'wait') return
      this.#waiting = this.#waiting.filter((one) => one !== waiting)
      if ('refused' in place) waiting.resolve(this.#refusal(waiting, `Not run: ${place.refused}.`))
      else {
        machine.tell({ type: 'call.agent', key: outer, call, waiting: behind, at: shared.clock.now() })
        const child = machine.context.attached.find(({ key }) => key === call.key)
        // Without one the running call is over, and its signal tells.
        if (child !== undefined) this.#working.set(child.childId, waiting)
      }
    }
  }

  #refusal({ call: { key } }: Waiting, text: string): CallOutput {
    const at = this.#parent.shared.clock.now()
    return {
      key,
      content: [{ type: 'text', text }],
      isError: true,
      tokens: 0,
      at,
      error: { code: 'LIMIT', message: text },
    }
  }
}
