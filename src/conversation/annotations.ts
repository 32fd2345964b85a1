import type { PruneOutcome, PruneRequest, RevertRequest, Tag } from '../protocol/braking.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { Fact } from './facts.ts'

export interface Tagged {
  readonly nodeId: NodeId
  readonly tag: Tag
  /** Of what the revert abandoned. */
  readonly facts: readonly Fact[]
  /** Of the rendered tag and of its facts, once counted. */
  tokens?: { readonly tag: number; readonly facts: number }
}

/** What reverts and prunes leave on a conversation beside its nodes. Made only for conversations that have any. */
export class Annotations {
  readonly reverts: RevertRequest[] = []
  readonly prunes: PruneRequest[] = []
  /** Refusals, after the step that asked. */
  readonly refusals = new Map<NodeId, readonly string[]>()
  /** The prune that hides a step, by the step's id. */
  readonly #hidden = new Map<NodeId, PruneOutcome>()
  /** Reverts to a node since a person last spoke. */
  readonly #revertsTo = new Map<NodeId, number>()
  /** Every tag, oldest first. */
  readonly tagged: Tagged[] = []

  refusalsAt(id: NodeId): readonly string[] {
    return this.refusals.get(id) ?? []
  }

  refuse(id: NodeId, reason: string): void {
    this.refusals.set(id, [...this.refusalsAt(id), reason])
  }

  hiddenBy(stepId: NodeId): PruneOutcome | undefined {
    return this.#hidden.get(stepId)
  }

  hide(outcome: PruneOutcome): void {
    for (const step of outcome.steps) this.#hidden.set(step, outcome)
  }

  get hiddenSteps(): Iterable<[NodeId, PruneOutcome]> {
    return this.#hidden
  }

  revertsTo(id: NodeId): number {
    return this.#revertsTo.get(id) ?? 0
  }

  countRevert(id: NodeId): void {
    this.#revertsTo.set(id, this.revertsTo(id) + 1)
  }

  personSpoke(): void {
    this.#revertsTo.clear()
  }

  /** Takes a request off its queue, whatever came of it. */
  settle(queue: 'reverts' | 'prunes', id: string): void {
    const index = this[queue].findIndex((request) => request.id === id)
    if (index >= 0) this[queue].splice(index, 1)
  }
}
