import { gateOf } from '../../actors/models/limits/gateOf.ts'
import type { ModelQueue } from '../../actors/models/limits/modelQueue.ts'
import type { Gate } from '../../actors/models/openStream.ts'
import { standInGate } from '../../actors/models/standInGate.ts'
import type { TreeAgent } from '../children/treeAgent.ts'

type Waiter = Pick<TreeAgent, 'agentId' | 'path' | 'shared' | 'machine' | 'announcer'>

/** The waiting of one agent for models, within the limits of the runtime. */
export class ModelWaits {
  readonly #agent: Waiter
  readonly #queue: ModelQueue
  /** Id of the model that it waits for. */
  model: string | null = null

  constructor(agent: Waiter, queue: ModelQueue) {
    this.#agent = agent
    this.#queue = queue
  }

  gate(tokens: number | undefined): Gate {
    const { agentId, path, shared, machine, announcer } = this.#agent
    return gateOf(this.#queue, shared.clock, {
      root: path[0] ?? agentId,
      tokens,
      waits: (model, why, ahead) => {
        const { at } = machine
        this.model = model
        announcer.emit({ type: 'model.waiting', ...at, model, why, ahead })
        return (ms) => {
          this.model = null
          if (ms !== undefined) announcer.emit({ type: 'model.waited', ...at, model, ms })
        }
      },
    })
  }
}

/** Checks that the log is still held before each call of a model: the agent may have waited for its turn, or for another model before. */
export const heldGate = (gate: Gate | undefined, checkHeld: () => void): Gate =>
  standInGate(gate, (model) => ({
    id: model.id,
    stream: (request, options) => {
      checkHeld()
      return model.stream(request, options)
    },
  }))
