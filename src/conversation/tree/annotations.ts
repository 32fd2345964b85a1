import { queueOf, type BrakeQueues } from '../../protocol/brakes/brakeTable.ts'
import type {
  CompactionRequest,
  PinOutcome,
  PinRequest,
  PolicyRequest,
  PruneOutcome,
  RevertRequest,
  Tag,
} from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { RefusedPart } from '../../protocol/ports/model.ts'
import type { Overlay, RecordOf } from '../../protocol/records.ts'
import type { Notice } from '../request/brakeNotes.ts'
import type { Fact } from './facts.ts'
import type { HiddenSpan } from '../brakes/hiddenSpan.ts'
import { HiddenSteps, type KeptHidden } from '../brakes/hiddenSteps.ts'
import { firstMasked, MaskedSteps } from '../request/maskedResults.ts'
import { PolicyLog, type LastFired } from '../brakes/policies/policyLog.ts'
import { StallLog, type KeptStalls } from '../brakes/stall/stallLog.ts'

export interface Tagged {
  readonly nodeId: NodeId
  readonly tag: Tag
  /** Facts of the nodes that the revert abandoned. */
  readonly facts: readonly Fact[]
  /** True if the last request showed the tag; missing before there was one. */
  isShown?: boolean
  /** Tokens of the rendered tag and of its facts; missing until they are counted. */
  tokens?: { readonly tag: number; readonly facts: number }
}

/** A record that asks for a change of the trunk. */
type Asking = RecordOf<keyof typeof queueOf>

export interface Waiting extends BrakeQueues {
  readonly compactions: readonly CompactionRequest[]
  readonly policyRequests: readonly PolicyRequest[]
}
type Queues = { readonly [Q in keyof Waiting]: Waiting[Q][number][] }

const queuesOf = (kept?: Waiting): Queues =>
  Object.fromEntries(Object.values(queueOf).map((queue) => [queue, [...(kept?.[queue] ?? [])]])) as unknown as Queues

/** Stored form of annotations. */
export interface KeptAnnotations {
  readonly revertsTo: readonly (readonly [NodeId, number])[]
  readonly pinned: readonly NodeId[]
  readonly yielding: readonly NodeId[]
  readonly waiting: Waiting
  readonly tagged: readonly Tagged[]
  readonly notices: readonly (readonly [NodeId, readonly Notice[]])[]
  readonly stalls: KeptStalls
  readonly policies: readonly (readonly [string, LastFired])[]
  readonly hidden: KeptHidden
  readonly masked: readonly (readonly [NodeId, number])[]
  readonly hasUnpinned: boolean
  /** Parts that providers refused; missing in annotations that were stored before the first one. */
  readonly refused?: readonly Refused[]
  /** Steps that were shown again; missing while there are none. */
  readonly shown?: readonly NodeId[]
  /** Receipts of calls in the background, by the calls' ids; missing while no call is at work. */
  readonly working?: readonly (readonly [string, Receipt])[]
}

/** The receipt of a call that works in the background, and its step. */
interface Receipt {
  readonly nodeId: NodeId
  readonly stepId: NodeId
}

export type Refused = RefusedPart & { readonly turnIndex: number }

/** Traces of reverts, prunes and pins on a conversation, beside its nodes. Made only for conversations that have any. */
export class Annotations {
  readonly waiting: Queues
  /** Notices shown to the model after a step, by the id of the node that they follow. */
  readonly notices: Map<NodeId, readonly Notice[]>
  readonly stalls: StallLog
  readonly policies: PolicyLog
  readonly hidden: HiddenSteps
  readonly masked: MaskedSteps
  /** Number of reverts to each node since a person last spoke. */
  readonly #revertsTo: Map<NodeId, number>
  /** Every tag, oldest first. */
  readonly tagged: Tagged[]
  /** Steps that somebody asked to be shown again: only a person, the model and compactions hide them. */
  readonly #shownAgain: Set<NodeId>
  readonly #pinned: Set<NodeId>
  readonly #yielding: Set<NodeId>
  /** True if a step was ever unpinned. */
  hasUnpinned: boolean
  /** Parts that providers refused, oldest first. */
  readonly refused: Refused[]
  /** Calls that work in the background, by their ids. */
  readonly #working: Map<string, Receipt>

  constructor(kept?: KeptAnnotations) {
    this.waiting = queuesOf(kept?.waiting)
    this.notices = new Map(kept?.notices)
    this.stalls = new StallLog(kept?.stalls)
    this.policies = new PolicyLog(kept?.policies)
    this.hidden = new HiddenSteps(kept?.hidden)
    this.masked = new MaskedSteps(kept?.masked)
    this.#revertsTo = new Map(kept?.revertsTo)
    this.tagged = [...(kept?.tagged ?? [])]
    this.#shownAgain = new Set(kept?.shown)
    this.#pinned = new Set(kept?.pinned)
    this.#yielding = new Set(kept?.yielding)
    this.hasUnpinned = kept?.hasUnpinned ?? false
    this.refused = [...(kept?.refused ?? [])]
    this.#working = new Map(kept?.working)
  }

  keep(): KeptAnnotations {
    const { waiting, tagged, hasUnpinned, refused } = this
    return {
      waiting,
      tagged,
      hasUnpinned,
      ...(refused.length === 0 ? {} : { refused }),
      ...(this.#shownAgain.size === 0 ? {} : { shown: [...this.#shownAgain] }),
      ...(this.#working.size === 0 ? {} : { working: [...this.#working] }),
      notices: [...this.notices],
      stalls: this.stalls.keep(),
      policies: this.policies.keep(),
      hidden: this.hidden.keep(),
      masked: this.masked.keep(),
      revertsTo: [...this.#revertsTo],
      pinned: [...this.#pinned],
      yielding: [...this.#yielding],
    }
  }

  /** True if the model is shown any of the annotations. */
  get hasNotes(): boolean {
    // Once there were notes, look-alikes of them stay defused.
    const isNoted = this.hidden.spans.length > 0 || this.#shownAgain.size > 0
    return isNoted || this.tagged.length > 0 || this.notices.size > 0
  }

  noticesAt(id: NodeId): readonly Notice[] {
    return this.notices.get(id) ?? []
  }

  notify(id: NodeId, notice: Notice, overlay: Pick<Overlay, 'to' | 'nodeId'> | undefined): void {
    const after = overlay !== undefined && id <= overlay.to ? { summary: overlay.nodeId } : {}
    this.notices.set(id, [...this.noticesAt(id), { ...notice, ...after }])
  }

  /** Notes which tags the last request showed. Returns `true` if they changed. */
  showTags(shown: ReadonlySet<Tag>): boolean {
    let isNews = false
    for (const tagged of this.tagged) {
      const isShown = shown.has(tagged.tag)
      isNews ||= tagged.isShown !== isShown
      tagged.isShown = isShown
    }
    return isNews
  }

  /** Returns the prune or fold that hides a step, given by the step's id. */
  hiddenBy(stepId: NodeId): HiddenSpan | undefined {
    return this.hidden.spanOf(stepId)
  }

  isShownAgain(stepId: NodeId): boolean {
    return this.#shownAgain.has(stepId)
  }

  /** Applies the outcome of a prune, fold, mask or show. Returns the lowest depth of the trunk whose rendering changes. */
  hide(outcome: PruneOutcome, subject: Parameters<MaskedSteps['add']>[1]): number {
    const { steps, masked, shown } = outcome
    if (masked === true) return this.masked.add(steps, subject)
    if (shown === true) return this.#show(steps, subject)
    this.masked.drop(steps)
    for (const id of steps) this.#shownAgain.delete(id)
    return this.hidden.apply(outcome, subject)
  }

  #show(steps: readonly NodeId[], subject: Parameters<MaskedSteps['add']>[1]): number {
    const unmasked = steps.filter((id) => this.masked.has(id))
    this.masked.drop(steps)
    for (const id of steps) this.#shownAgain.add(id)
    const again = steps.filter((id) => this.hiddenBy(id) !== undefined)
    return Math.min(firstMasked(unmasked, subject)?.depth ?? Infinity, this.hidden.show(again, subject))
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

  /** Pinned steps by their first node, and pinned summaries. The model sees all of them. */
  get pinned(): ReadonlySet<NodeId> {
    return this.#pinned
  }

  isPinned(stepId: NodeId): boolean {
    return this.#pinned.has(stepId)
  }

  /** Steps that a tool or the model pinned: a revert may abandon them. */
  get yielding(): ReadonlySet<NodeId> {
    return this.#yielding
  }

  /** Applies the outcome of a pin. Returns who asked for it. */
  pin({ id, applied, step, pinned }: PinOutcome): PinRequest['by'] | undefined {
    const by = this.settle('pins', id)
    if (!applied || step === undefined) return by
    if (pinned && (by === 'runtime' || by === 'model')) this.#yielding.add(step)
    else this.#yielding.delete(step)
    if (pinned) this.#pinned.add(step)
    else this.hasUnpinned = this.#pinned.delete(step) || this.hasUnpinned
    return by
  }

  work(id: string, receipt: Receipt): void {
    this.#working.set(id, receipt)
  }

  /** Ends a call in the background. Returns the node of its receipt; `undefined` if the call is not at work. */
  endWork(id: string): NodeId | undefined {
    const receipt = this.#working.get(id)
    this.#working.delete(id)
    // Its step may stand before what was folded since.
    if (receipt !== undefined && this.hidden.spans.length > 0) this.hasUnpinned = true
    return receipt?.nodeId
  }

  /** Returns true if a node is the receipt of a call that works in the background, or the beginning of its step. */
  isWorking(id: NodeId): boolean {
    for (const { nodeId, stepId } of this.#working.values()) if (id === nodeId || id === stepId) return true
    return false
  }

  refuse(part: RefusedPart, turnIndex: number): void {
    this.refused.push({ ...part, turnIndex })
  }

  /** Forgets the pins of a part of the trunk that is abandoned. */
  abandon(span: readonly { readonly id: NodeId }[]): void {
    if (this.#yielding.size === 0) return
    for (const { id } of span) if (this.#yielding.delete(id)) this.#pinned.delete(id)
  }

  ask(record: Asking): void {
    const queue: { push(request: object): void } = this.waiting[queueOf[record.type]]
    queue.push(record.request)
  }

  /** Removes a request from its queue, whatever its outcome. Returns who made it. */
  settle(queue: keyof Waiting, id: string, isApplied = false): RevertRequest['by'] | undefined {
    const waiting: { readonly id: string; readonly by: RevertRequest['by']; readonly policy?: string }[] =
      this.waiting[queue]
    const index = waiting.findIndex((request) => request.id === id)
    if (index < 0) return undefined
    const [request] = waiting.splice(index, 1)
    if (isApplied && request!.policy !== undefined) this.policies.change(request!.policy)
    return request!.by
  }

  /** Drops the waiting requests, which stay with the source of a fork. */
  dropRequests(): void {
    this.#working.clear()
    for (const requests of Object.values(this.waiting)) requests.splice(0)
  }
}
