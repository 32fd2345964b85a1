import type {
  CompactionRequest,
  PinOutcome,
  PinRequest,
  PruneRequest,
  RevertRequest,
  Tag,
} from '../protocol/braking.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { RecordOf } from '../protocol/records.ts'
import type { Notice } from './brakeNotes.ts'
import type { Fact } from './facts.ts'
import type { HiddenSpan } from './hiddenSpan.ts'
import { HiddenSteps } from './hiddenSteps.ts'
import { StallLog } from './stallLog.ts'

export interface Tagged {
  readonly nodeId: NodeId
  readonly tag: Tag
  /** Of what the revert abandoned. */
  readonly facts: readonly Fact[]
  /** Whether the last request showed the tag; missing before there was one. */
  isShown?: boolean
  /** Of the rendered tag and of its facts, once counted. */
  tokens?: { readonly tag: number; readonly facts: number }
}

/** A record that asks for a change of the trunk. */
type Asking = RecordOf<'revert.requested' | 'prune.requested' | 'compaction.requested' | 'pin.requested'>

/** What reverts, prunes and pins leave on a conversation beside its nodes. Made only for conversations that have any. */
export class Annotations {
  readonly reverts: RevertRequest[] = []
  readonly prunes: PruneRequest[] = []
  readonly pins: PinRequest[] = []
  readonly compactions: CompactionRequest[] = []
  /** What the model is told after a step. */
  readonly notices = new Map<NodeId, readonly Notice[]>()
  readonly stalls = new StallLog()
  readonly hidden = new HiddenSteps()
  /** Reverts to a node since a person last spoke. */
  readonly #revertsTo = new Map<NodeId, number>()
  /** Every tag, oldest first. */
  readonly tagged: Tagged[] = []
  readonly #pinned = new Set<NodeId>()
  /** Whether any pin was ever taken back. */
  hasUnpinned = false

  /** Whether the model is shown anything of them. */
  get hasNotes(): boolean {
    return this.tagged.length > 0 || this.notices.size > 0 || this.hidden.spans.length > 0
  }

  noticesAt(id: NodeId): readonly Notice[] {
    return this.notices.get(id) ?? []
  }

  notify(id: NodeId, notice: Notice): void {
    this.notices.set(id, [...this.noticesAt(id), notice])
  }

  /** Notes which tags the last request showed; `true` if that is news. */
  showTags(shown: ReadonlySet<Tag>): boolean {
    let isNews = false
    for (const tagged of this.tagged) {
      const isShown = shown.has(tagged.tag)
      isNews ||= tagged.isShown !== isShown
      tagged.isShown = isShown
    }
    return isNews
  }

  /** The prune or fold that hides a step, by the step's id. */
  hiddenBy(stepId: NodeId): HiddenSpan | undefined {
    return this.hidden.spanOf(stepId)
  }

  get hiddenSteps(): Iterable<[NodeId, HiddenSpan]> {
    return this.hidden.bySteps
  }

  revertsTo(id: NodeId): number {
    return this.#revertsTo.get(id) ?? 0
  }

  countRevert(id: NodeId): void {
    this.#revertsTo.set(id, this.revertsTo(id) + 1)
  }

  personSpoke(): void {
    this.#revertsTo.clear()
    this.stalls.personSpoke()
  }

  /** Pinned steps, by their first node, and summaries. They are in sight of the model. */
  get pinned(): ReadonlySet<NodeId> {
    return this.#pinned
  }

  isPinned(stepId: NodeId): boolean {
    return this.#pinned.has(stepId)
  }

  pin({ id, applied, step, pinned }: PinOutcome): void {
    this.settle('pins', id)
    if (!applied || step === undefined) return
    if (pinned) this.#pinned.add(step)
    else this.hasUnpinned = this.#pinned.delete(step) || this.hasUnpinned
  }

  /** Queues a request. */
  ask(record: Asking): void {
    if (record.type === 'revert.requested') this.reverts.push(record.request)
    else if (record.type === 'prune.requested') this.prunes.push(record.request)
    else if (record.type === 'compaction.requested') this.compactions.push(record.request)
    else this.pins.push(record.request)
  }

  /** Takes a request off its queue, whatever came of it; gives who asked. */
  settle(queue: 'reverts' | 'prunes' | 'pins' | 'compactions', id: string): RevertRequest['by'] | undefined {
    const index = this[queue].findIndex((request) => request.id === id)
    return index < 0 ? undefined : this[queue].splice(index, 1)[0]?.by
  }

  /** What waits stays with the source of a fork. */
  dropRequests(): void {
    for (const requests of [this.reverts, this.prunes, this.pins, this.compactions]) requests.splice(0)
  }
}
