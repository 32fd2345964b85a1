import type { StallOutcome } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import type { ConversationNode } from '../../tree/node.ts'

/** Stored form of stalls. */
export interface KeptStalls {
  readonly last?: StallOutcome | undefined
  readonly hasPaused: boolean
}

/** Stalls in the log so far. */
export class StallLog {
  #last: StallOutcome | undefined
  #hasPaused: boolean

  constructor({ last, hasPaused }: KeptStalls = { hasPaused: false }) {
    this.#last = last
    this.#hasPaused = hasPaused
  }

  keep(): KeptStalls {
    return { last: this.#last, hasPaused: this.#hasPaused }
  }

  /** The newest stall since a person last spoke. */
  get last(): StallOutcome | undefined {
    return this.#last
  }

  /** The newest stall, unless the run was paused for it. After `resume` the count starts again. */
  get counted(): StallOutcome | undefined {
    return this.#hasPaused ? undefined : this.#last
  }

  add(stall: StallOutcome): void {
    this.#last = stall
    this.#hasPaused = false
  }

  pause(): void {
    this.#hasPaused = true
  }

  personSpoke(): void {
    this.#last = undefined
  }
}

/** Returns the reason why a stall does not follow from the conversation; `undefined` if it does. */
export function wrongInStall(
  { first, target, steps }: StallOutcome,
  conversation: { node(id: NodeId): ConversationNode | undefined },
): string | undefined {
  const isStep = (id: NodeId): boolean => conversation.node(id)?.stepId === id
  return conversation.node(target) !== undefined && [first, ...steps].every(isStep)
    ? undefined
    : 'it names steps that are not there'
}
